"""Ask and tell by comparisons: which of these two is better?"""

from __future__ import annotations

import copy
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.gaussian_process.kernels import Matern

from bandit_envs.basics.arguments import is_count, is_integer, require, require_switch
from bandit_envs.basics.files import target_of
from bandit_envs.basics.threads import one_thread
from bandit_envs.basics.types import Floats
from bandit_envs.problem.feedback import delivery
from bandit_envs.problem.setting import Setting

from ..registry import require_registered, resolve_agent
from ..saving.files import MAX_BYTES, digest_of, parsing, playing, read, write
from .parameters import Parameter
from .plan import LENGTH_SCALE
from .space import Space, Values

FORM = "gpbandits preference tuner"  # of the file
OUTCOMES = {"first": 1.0, "second": 0.0, "tie": 0.5}
AGENT = "maxminlcb"
ONLY = np.zeros(1, dtype=np.float32)  # observation of the only context


class Favourite(NamedTuple):
    """Recommended parameters, with the posterior of their utility in log odds, whose zero has no meaning."""

    parameters: Values
    utility: float
    std: float


@dataclass(frozen=True)
class Question:
    """One question: two points, by their indices, and the outcome, None while there is none."""

    pair: tuple[int, int]
    outcome: float | None = None
    told_in: int | None = None  # number of questions when it was answered
    dropped: bool = False

    def continues(self, earlier: Question) -> bool:
        """Return True if this is an earlier question with what was known of it."""
        told = earlier.outcome is None or (earlier.outcome, earlier.told_in) == (self.outcome, self.told_in)
        return self.pair == earlier.pair and told and self.dropped >= earlier.dropped


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
        parameters: name -> `Linear`, `Log`, `Integer` or `Categorical`.
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
        parameters: Mapping[str, Parameter],
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
        self.plan = {"agent": agent, "incumbent": incumbent, "seed": int(seed), "budget": int(budget)}
        self.plan |= {"num_arms": int(num_arms)}
        self.space, self.points = space, space.spread(num_arms)
        require(len(self.points) > 1, "parameters", "of at least two different points", parameters)
        self._features = np.array([space.features(point) for point in self.points])
        factory = resolve_agent(agent)
        self._agent: Any = factory(self._setting) if factory.features.duel else None
        duels = hasattr(self._agent, "contest")
        require(duels, "agent", 'an agent of duels, such as "maxminlcb"', agent)
        self._agent.reset(self.plan["seed"])
        self.questions: list[Question] = []
        self._closed = 0  # questions that the agent has observed
        self._champion: int | None = None
        self._kept: dict[Path, str] = {}  # digest of each file that was saved or loaded, as it was then

    @property
    def _setting(self) -> Setting:
        dim, budget = self._features.shape[1], self.plan["budget"]
        scale: Any = np.full(dim, LENGTH_SCALE * len(self.space.kinds) ** 0.5)
        kernel = Matern(scale if dim > 1 else LENGTH_SCALE, nu=2.5)
        return Setting(
            arms=self._features, kernel=kernel, horizon=budget, max_delay=budget - 1, noise_std=0.5, duel=True
        )

    @one_thread()
    def ask(self) -> tuple[int, tuple[Values, Values]]:
        """Return a ticket and the two sets of parameters to compare."""
        self._close(self._agent, len(self.questions))
        self._closed = len(self.questions)
        pair = self._pair()
        self.questions.append(Question(pair))
        return len(self.questions) - 1, (dict(self.points[pair[0]]), dict(self.points[pair[1]]))

    def tell(self, ticket: int, winner: str) -> None:
        """Report who won, "first", "second" or "tie", which counts as half a win of each."""
        known = isinstance(winner, str) and winner in OUTCOMES
        require(known, "winner", " or ".join(map(repr, OUTCOMES)), winner)
        asked = self._pending(ticket)
        told = Question(asked.pair, OUTCOMES[winner], len(self.questions))
        self.questions[ticket] = told
        if winner != "tie" or self._champion is None:
            self._champion = asked.pair[0 if OUTCOMES[winner] >= 0.5 else 1]

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
        plan = {**self.plan, "agent": _as_data(self.plan["agent"])}
        asked = [[*each.pair, each.outcome, each.told_in, each.dropped] for each in self.questions]
        content = {"parameters": self.space.to_data(), "plan": plan, "questions": asked}
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
        for t in range(len(self.questions)):
            self._close(self._agent, t)
            # The incumbent at the time depends on the order of answers, which the file has not.
            pair = self._agent.act(ONLY) if self.plan["incumbent"] else self._pair()
            if not self.plan["incumbent"] and pair != self.questions[t].pair:
                raise ValueError(f"question {t} is of the points {pair} rather than {self.questions[t].pair}")
            self._closed = t
        told = [each for each in self.questions if each.outcome is not None]
        for each in sorted(told, key=lambda each: each.told_in or 0):
            if each.outcome != OUTCOMES["tie"] or self._champion is None:
                self._champion = each.pair[0 if (each.outcome or 0.0) >= 0.5 else 1]

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
            told = [i for i, asked in enumerate(self.questions) if asked.told_in == t + 1]
            came = np.array(told, dtype=np.int64)
            won = np.array([self.questions[i].outcome for i in came], dtype=np.float64)
            news = delivery(t, came, won, np.empty((len(came), 0)), self.plan["budget"] - 1)
            agent.update(ONLY, np.array(self.questions[t].pair), float(won.sum()), news)


def _questions(content: dict[str, Any]) -> list[Question]:
    return [Question((first, second), *state) for first, second, *state in content["questions"]]


def _as_data(agent: Any) -> list[Any]:
    if isinstance(agent, str):
        return [agent]
    require(
        isinstance(agent, tuple | list), "agent", "a name or (name, options) in a tuner that is saved", agent
    )
    return list(agent)
