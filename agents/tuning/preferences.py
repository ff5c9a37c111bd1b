"""Ask and tell by comparisons: which of these two is better?"""

from __future__ import annotations

import copy
import os
from collections import Counter
from dataclasses import astuple
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np

from bandit_envs.basics.arguments import from_extra, is_count, is_integer, require, require_switch
from bandit_envs.basics.files import target_of
from bandit_envs.basics.notebook import brief
from bandit_envs.basics.threads import one_thread
from bandit_envs.basics.types import Floats

from ..registry import require_registered, without_options
from ..saving.files import MAX_BYTES, digest_of, parsing, playing, read, write
from .comparisons import ONLY, PairPlayer, Question, champion, checked_order, outcome_of, questions_of
from .parameters import Ranges
from .space import Space, Values
from .workers import MOST_AT_ONCE

if TYPE_CHECKING:
    from pandas import DataFrame

FORM = "gpbandits preference tuner"  # of the file
AGENT = "maxminlcb"
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
        self._kept: dict[Path, str] = {}  # digest of each file that was saved or loaded, as it was then
        self._player = self._resumed()

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
        number = len(self.questions)
        self._player.observe(self.questions, number)
        pair = self._player.pair(self._incumbent(number))
        self.questions.append(Question(pair))
        return number, self._parameters(pair)

    @one_thread()
    def add(self, first: Values, second: Values, winner: str) -> None:
        """Report a comparison that was not asked for, such as one from the past; see `tell`.

        Points that are not among `points` join them, and the agent is then made again from all answers.
        """
        outcome = outcome_of(winner)
        pair = self.space.check(first), self.space.check(second)
        require(pair[0] != pair[1], "second", "other parameters than the first ones", second)
        new = [point for point in pair if point not in self.points]
        self.points += new
        index = self.points.index(pair[0]), self.points.index(pair[1])
        self.questions.append(Question(index, outcome, len(self.questions) + 1, asked=False))
        self.order.append(len(self.questions) - 1)
        if new:
            self._player = self._resumed()

    @property
    def pending(self) -> dict[int, tuple[Values, Values]]:
        """Ticket -> the two sets of parameters of questions without an answer."""
        waiting = {i: each for i, each in enumerate(self.questions) if each.state == "pending"}
        return {ticket: self._parameters(each.pair) for ticket, each in waiting.items()}

    @property
    def experiments(self) -> list[ComparedPair]:
        """All comparisons in the order in which they were asked for or added."""
        return [
            ComparedPair(i if each.asked else None, *self._parameters(each.pair), each.state, each.winner)
            for i, each in enumerate(self.questions)
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

    def tell(self, ticket: int, winner: str) -> None:
        """Report who won, "first", "second" or "tie", which counts as half a win of each."""
        outcome, asked = outcome_of(winner), self._pending(ticket)
        self.questions[ticket] = Question(asked.pair, outcome, len(self.questions))
        self.order.append(ticket)

    def drop(self, ticket: int) -> None:
        """Report that a question will not be answered."""
        self.questions[ticket] = Question(self._pending(ticket).pair, dropped=True)

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
            tuner.questions += questions_of(content)
            tuner.points += [space.check(each) for each in content["added"]]
            tuner.order = checked_order(content["order"], tuner.questions)
        with playing(path):
            tuner._player = tuner._resumed()
        tuner._kept = kept
        return tuner

    def _require_continued(self, path: str | os.PathLike[str]) -> None:
        if not os.path.exists(path) or not os.path.getsize(path):
            return
        content = read(path, FORM)
        with parsing(path):
            known = questions_of(content)
        kept = all(mine.continues(its) for mine, its in zip(self.questions, known, strict=False))
        # Answers have three values: those that somebody else gave meanwhile may be equal, and count too.
        kept = kept and self._kept.get(target_of(path)) in (None, digest_of(FORM, content))
        words = f"a file of this tuner; it holds {len(known)} questions that saving would lose"
        go_on = "continue with PreferenceTuner.load(path), or give another file"
        require(kept and len(known) <= len(self.questions), "path", f"{words}: {go_on}", path)

    def _resumed(self) -> PairPlayer:
        """Return a new agent that has answered all questions again, in the same state to the last bit.

        It must ask as it did then. Where points were added later this is not compared, as they would have
        changed what was asked before.
        """
        plan = self.plan
        player = PairPlayer(self.space, self.points, plan["agent"], plan["budget"], plan["seed"])
        compared = len(self.points) == self._spread
        for t, known in enumerate(self.questions):
            player.observe(self.questions, t)
            pair = player.pair(self._incumbent(t)) if known.asked else known.pair
            if compared and pair != known.pair:
                raise ValueError(f"question {t} is of the points {pair} rather than {known.pair}")
        return player

    def _incumbent(self, t: int) -> int | None:
        """Return the point that question t sets against a challenger; None leaves both to the agent."""
        return champion(self.questions, self.order, t) if self.plan["incumbent"] else None

    def _informed(self) -> Any:
        """Return a copy of the agent that has observed all answers."""
        twin = copy.deepcopy(self._player)
        twin.observe(self.questions, len(self.questions))
        return twin.agent

    def _pending(self, ticket: Any) -> Question:
        known = is_integer(ticket) and 0 <= ticket < len(self.questions)
        waits = known and self.questions[ticket].state == "pending"
        require(waits, "ticket", "of a question without answer", ticket)
        return self.questions[ticket]
