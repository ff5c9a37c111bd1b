"""Ask and tell by comparisons: which of these two is better?"""

from __future__ import annotations

import copy
import os
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
from sklearn.gaussian_process.kernels import Matern

from bandit_envs.basics.arguments import from_extra, is_count, is_integer, require, require_switch
from bandit_envs.basics.files import target_of
from bandit_envs.basics.notebook import brief
from bandit_envs.basics.threads import one_thread
from bandit_envs.basics.types import Floats
from bandit_envs.problem.feedback import delivery
from bandit_envs.problem.setting import Setting

from ..named import is_name
from ..protocol import BaseAgent, defines
from ..registry import require_registered, resolve_agent, without_options
from ..saving.files import MAX_BYTES, digest_of, parsing, playing, read, write
from .parameters import Ranges
from .plan import LENGTH_SCALE
from .space import Space, Values
from .workers import MOST_AT_ONCE

if TYPE_CHECKING:
    from pandas import DataFrame

FORM = "gpbandits preference tuner"  # of the file
OUTCOMES = {"first": 1.0, "second": 0.0, "tie": 0.5}
WINNERS: dict[float | None, str] = {outcome: name for name, outcome in OUTCOMES.items()}
AGENT = "maxminlcb"
ONLY = np.zeros(1, dtype=np.float32)  # observation of the only context


Pair = tuple[int, tuple[Values, Values]]  # a ticket and two sets of parameters


class Favourite(NamedTuple):
    """Recommended parameters, with the posterior of their utility in log odds, whose zero has no meaning."""

    parameters: Values
    utility: float
    std: float


class ComparedPair(NamedTuple):
    """One line of a preference tuner's history."""

    ticket: int | None  # None for one that was done elsewhere
    first: Values
    second: Values
    state: str  # "pending", "told" or "dropped"
    winner: str | None  # "first", "second" or "tie"


@dataclass(frozen=True)
class Question:
    """One question: two points, by their indices, and the outcome, None while there is none."""

    pair: tuple[int, int]
    outcome: float | None = None
    answered_after: int | None = None  # number of questions when it was answered
    dropped: bool = False
    asked: bool = True  # False for a comparison that was done elsewhere

    @property
    def state(self) -> str:
        """Return "told", "dropped" or "pending"."""
        return "told" if self.outcome is not None else "dropped" if self.dropped else "pending"

    def continues(self, earlier: Question) -> bool:
        """Return True if this is an earlier question with what was known of it."""
        answer, before = (self.outcome, self.answered_after), (earlier.outcome, earlier.answered_after)
        same = earlier.outcome is None or before == answer
        return self.pair == earlier.pair and same and self.dropped >= earlier.dropped


class PreferenceTuner:
    """Asks which of two sets of parameters is better, by an agent of duels on their utilities.

    A preference is not certain: x beats x' with probability s(f(x) - f(x')). Utilities are assumed to be a
    sample of a Matern 5/2 kernel of variance 1 in log odds, with the length-scale 0.3 sqrt(number of
    parameters), where the range of each parameter is 1; it is not learnt. Answers may come in any order and
    late. A point is never asked against itself, which would teach nothing, but against its strongest
    challenger.

        >>> from agents import Linear
        >>> from agents.tuning import PreferenceTuner
        >>> tuner = PreferenceTuner({"exposure": Linear(-2, 2)}, num_arms=32)
        >>> ticket, (left, right) = tuner.ask()
        >>> tuner.tell(ticket, "first" if abs(left["exposure"]) < abs(right["exposure"]) else "second")

    Args:
        parameters: name -> range, as for `Tuner`.
        agent: a name of an agent of duels, or (name, options), such as "double-ts" for several questions at
            a time.
        incumbent: True asks for the winner of the last answer against a challenger, from the second question
            on; a tie keeps it.
        seed: of the agent.
        budget: approximate number of questions; more are allowed.
        num_arms: the points among which it chooses cover the space and are at most so many.
    """

    def __init__(
        self,
        parameters: Ranges,
        *,
        agent: Any = AGENT,
        incumbent: bool = False,
        seed: int = 0,
        budget: int = 100,
        num_arms: int = 256,
    ):
        require_switch("incumbent", incumbent)
        require(is_integer(seed) and seed >= 0, "seed", "an integer >= 0", seed)
        for name, value in {"budget": budget, "num_arms": num_arms}.items():
            require(is_count(value) and value > 1, name, "an integer of at least 2", value)
        space = Space("parameters", parameters)
        self.plan: dict[str, Any] = {"agent": agent, "incumbent": incumbent}
        self.plan |= {"seed": int(seed), "budget": int(budget), "num_arms": int(num_arms)}
        self.space, self.points = space, space.spread(num_arms)
        require(len(self.points) > 1, "parameters", "of at least two different points", parameters)
        self._spread = len(self.points)  # those after them were added
        self.questions: list[Question] = []
        self.order: list[int] = []  # tickets as they were answered
        self._make_agent()

    def _make_agent(self) -> None:
        """Make an agent that has observed nothing, on all points."""
        agent, budget = self.plan["agent"], self.plan["budget"]
        arms = np.array([self.space.features(point) for point in self.points])
        scale: Any = np.full(arms.shape[1], LENGTH_SCALE * len(self.space.kinds) ** 0.5)
        kernel = Matern(scale if len(scale) > 1 else LENGTH_SCALE, nu=2.5)
        factory, needed = resolve_agent(agent), 'an agent of duels, such as "maxminlcb"'
        require(factory.features.duel, "agent", needed, agent)
        self._agent: Any = factory(
            Setting(arms=arms, kernel=kernel, horizon=budget, max_delay=budget - 1, noise_std=0.5, duel=True)
        )
        require(defines(self._agent, BaseAgent, "contest"), "agent", needed, agent)
        self._agent.reset(self.plan["seed"])
        self._closed = 0  # questions that the agent has observed
        self._champion: int | None = None
        self._kept: dict[Path, str] = {}  # digest of each file that was saved or loaded, as it was then

    @overload
    def ask(self, n: None = None) -> Pair: ...

    @overload
    def ask(self, n: int) -> list[Pair]: ...

    @one_thread()
    def ask(self, n: int | None = None) -> Pair | list[Pair]:
        """Return a ticket and the two sets of parameters to compare, or a list of n such questions."""
        require(n is None or is_count(n), "n", "None or a positive integer", n)
        require(n is None or n <= MOST_AT_ONCE, "n", f"at most {MOST_AT_ONCE} questions in a call", n)
        asked = [self._ask() for _ in range(n or 1)]
        return asked[0] if n is None else asked

    def _ask(self) -> Pair:
        self._close(self._agent, len(self.questions))
        self._closed = len(self.questions)
        pair = self._pair()
        self.questions.append(Question(pair))
        return len(self.questions) - 1, self._parameters(pair)

    @one_thread()
    def add(self, first: Values, second: Values, winner: str) -> None:
        """Report a comparison that was not asked for, such as one from the past; see `tell`.

        Points that are not among `points` join them, and the agent is then made again from all answers.
        """
        require_winner(winner)
        pair = self.space.check(first), self.space.check(second)
        require(pair[0] != pair[1], "second", "other parameters than the first ones", second)
        new = [point for point in pair if point not in self.points]
        self.points += new
        index = self.points.index(pair[0]), self.points.index(pair[1])
        self.questions.append(Question(index, OUTCOMES[winner], len(self.questions) + 1, asked=False))
        self._note(len(self.questions) - 1)
        if new:
            self._make_agent()
            self._resume()

    @property
    def pending(self) -> dict[int, tuple[Values, Values]]:
        """Ticket -> the two sets of parameters of questions without an answer."""
        waiting = {i: each for i, each in enumerate(self.questions) if each.state == "pending"}
        return {ticket: self._parameters(each.pair) for ticket, each in waiting.items()}

    @property
    def experiments(self) -> list[ComparedPair]:
        """All comparisons in the order in which they were asked for or added."""
        tickets = (i if each.asked else None for i, each in enumerate(self.questions))
        return [
            ComparedPair(ticket, *self._parameters(each.pair), each.state, WINNERS.get(each.outcome))
            for ticket, each in zip(tickets, self.questions, strict=True)
        ]

    def to_frame(self) -> DataFrame:
        """Return all comparisons as a table of pandas, a row each, in the order of `experiments`.

        Columns: ticket, "first x" and "second x" for each parameter x, state and winner.
        """
        with from_extra("eval", "tables"):
            import pandas as pd

        lines = self.experiments
        columns: dict[str, Any] = {"ticket": pd.array([each.ticket for each in lines], dtype="Int64")}
        for place in ("first", "second"):
            for name in self.space.kinds:
                columns[f"{place} {name}"] = [getattr(each, place)[name] for each in lines]
        columns["state"] = [each.state for each in lines]
        columns["winner"] = pd.Series([each.winner for each in lines], dtype=object)  # None stays None
        return pd.DataFrame(columns)

    def __repr__(self) -> str:
        counts = Counter(each.state for each in self.questions)
        states = ", ".join(f"{counts[state]} {state}" for state in ("told", "pending", "dropped"))
        agent = brief(without_options(self.plan["agent"]))
        return f"PreferenceTuner({', '.join(self.space.kinds)}, agent={agent}: {states})"

    def _parameters(self, pair: tuple[int, int]) -> tuple[Values, Values]:
        return dict(self.points[pair[0]]), dict(self.points[pair[1]])

    def _note(self, ticket: int) -> None:
        self.order.append(ticket)
        self._crown(self.questions[ticket])

    def _crown(self, answered: Question) -> None:
        """Keep the winner of an answer; a tie keeps the one before."""
        if answered.outcome != OUTCOMES["tie"] or self._champion is None:
            self._champion = answered.pair[0 if (answered.outcome or 0.0) >= 0.5 else 1]

    def tell(self, ticket: int, winner: str) -> None:
        """Report who won, "first", "second" or "tie", which counts as half a win of each."""
        require_winner(winner)
        asked = self._pending(ticket)
        self.questions[ticket] = Question(asked.pair, OUTCOMES[winner], len(self.questions))
        self._note(ticket)

    def drop(self, ticket: int) -> None:
        """Report that a question will not be answered."""
        asked = self._pending(ticket)
        self.questions[ticket] = Question(asked.pair, dropped=True)

    @one_thread()
    def recommend(self, *, anywhere: bool = False) -> Favourite:
        """Return the parameters of the largest mean utility, among those compared unless `anywhere`."""
        require_switch("anywhere", anywhere)
        seen = sorted({i for each in self.questions if each.outcome is not None for i in each.pair})
        if not seen and not anywhere:
            raise ValueError("recommend needs an answer, got none; tell one, or pass anywhere=True")
        best = self._informed().recommend(ONLY, among=None if anywhere else np.array(seen))
        return Favourite(dict(self.points[int(best.action)]), float(best.mean), float(best.std))

    @one_thread()
    def utilities(self) -> tuple[Floats, Floats]:
        """Return posterior mean and std of the utility of each of `points` less that of the best, (n,) each.

        Utilities have no zero, so only differences mean anything: in log odds, of winning against the best
        point, which is `recommend(anywhere=True)`.
        """
        informed = self._informed()
        best, pairs = informed.recommend(ONLY).action, informed.belief.at(np.zeros(1, dtype=np.int64))
        return pairs.difference[:, best], pairs.std[:, best]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the tuner to one file (JSON), from which `load` continues exactly.

        Raises:
            ValueError: the file holds questions or answers that this tuner lacks, is of another kind, or
                another process or tuner is writing it.
        """
        agent, words = self.plan["agent"], "a name or (name, options) in a tuner that is saved"
        require(isinstance(agent, str | tuple | list), "agent", words, agent)
        plan = {**self.plan, "agent": [agent] if isinstance(agent, str) else list(agent)}
        content = {"parameters": self.space.to_data(), "plan": plan}
        content["questions"] = [[*each.pair, *astuple(each)[1:]] for each in self.questions]
        content |= {"added": self.points[self._spread :], "order": self.order}
        write(path, FORM, content, continued=self._require_continued)
        self._kept[target_of(path)] = digest_of(FORM, content)

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], *, trust: bool = False, max_bytes: int = MAX_BYTES
    ) -> PreferenceTuner:
        """Return a saved tuner, whose agent has observed the same answers; see `agents.load`."""
        require_switch("trust", trust)
        content = read(path, FORM, max_bytes=max_bytes)
        kept = {target_of(path): digest_of(FORM, content)}
        with parsing(path):
            agent, *options = content["plan"].pop("agent")
            require_registered(agent, trust)
            space = Space.from_data("parameters", content["parameters"])
            tuner = cls(space.kinds, agent=(agent, *options) if options else agent, **content["plan"])
            tuner.questions += _questions(content)
            tuner.points += [space.check(each) for each in content["added"]]
            tuner.order = _checked_order(content["order"], tuner.questions)
            tuner._make_agent()
        with playing(path):
            tuner._resume()
        tuner._kept = kept
        return tuner

    def _require_continued(self, path: str | os.PathLike[str]) -> None:
        if not os.path.exists(path) or not os.path.getsize(path):
            return
        content = read(path, FORM)
        with parsing(path):
            known = _questions(content)
        kept = all(mine.continues(its) for mine, its in zip(self.questions, known, strict=False))
        # Answers have three values: those that somebody else gave meanwhile may be equal, and count too.
        kept = kept and self._kept.get(target_of(path)) in (None, digest_of(FORM, content))
        words = f"a file of this tuner; it holds {len(known)} questions that saving would lose"
        go_on = "continue with PreferenceTuner.load(path), or give another file"
        require(kept and len(known) <= len(self.questions), "path", f"{words}: {go_on}", path)

    def _resume(self) -> None:
        """Let the agent answer all questions again, and so be in the same state to the last bit."""
        answers = deque(self.order)
        for t in range(len(self.questions) + 1):
            while answers and (self.questions[answers[0]].answered_after or 0) <= t:
                self._crown(self.questions[answers.popleft()])
            if t < len(self.questions):
                self._close(self._agent, t)
                self._closed = t
                if self.questions[t].asked:
                    self._ask_again(t)

    def _ask_again(self, t: int) -> None:
        """Let the agent ask once more, and raise if it asks otherwise.

        Points that were added later would have changed what was asked before.
        """
        if len(self.points) > self._spread:
            self._agent.act(ONLY)
        elif (pair := self._pair()) != (known := self.questions[t].pair):
            raise ValueError(f"question {t} is of the points {pair} rather than {known}")

    def _informed(self) -> Any:
        """Return a copy of the agent that has observed all answers."""
        twin = copy.deepcopy(self._agent)
        self._close(twin, len(self.questions))
        return twin

    def _pending(self, ticket: Any) -> Question:
        known = is_integer(ticket) and 0 <= ticket < len(self.questions)
        require(known, "ticket", "of a question", ticket)
        asked = self.questions[ticket]
        require(asked.outcome is None and not asked.dropped, "ticket", "of a question without answer", ticket)
        return asked

    def _pair(self) -> tuple[int, int]:
        """Return the agent's pair, or the incumbent and its challenger; never a point against itself."""
        first, second = map(int, self._agent.act(ONLY))
        if self.plan["incumbent"] and self._champion is not None:
            first = second = self._champion
        if first != second:
            return first, second
        contest = self._agent.contest(ONLY)
        chance = contest.upper[:, first].copy()
        chance[first] = -np.inf
        return first, contest.argmax(chance)

    def _close(self, agent: Any, end: int) -> None:
        """Let an agent observe questions up to `end`, each with the answers given before the next one."""
        for t in range(self._closed, end):
            answered = [i for i, asked in enumerate(self.questions) if asked.answered_after == t + 1]
            came = np.array(answered, dtype=np.int64)
            won = np.array([self.questions[i].outcome for i in came], dtype=np.float64)
            news = delivery(t, came, won, np.empty((len(came), 0)), self.plan["budget"] - 1)
            agent.update(ONLY, np.array(self.questions[t].pair), float(won.sum()), news)


def require_winner(winner: Any) -> None:
    """Raise unless it is the word of an outcome."""
    known = is_name(winner, *OUTCOMES)
    require(known, "winner", " or ".join(map(repr, OUTCOMES)), winner)


def _questions(content: dict[str, Any]) -> list[Question]:
    return [Question((first, second), *state) for first, second, *state in content["questions"]]


def _checked_order(order: list[int], questions: Sequence[Question]) -> list[int]:
    """Return the tickets of the answered questions as they were answered, or raise."""
    answered = [ticket for ticket, each in enumerate(questions) if each.outcome is not None]
    when = [questions[ticket].answered_after or 0 for ticket in order]
    fits = sorted(order) == answered and when == sorted(when)
    require(fits, "order", "of the answered questions, by the number of questions at the time", order)
    return order
