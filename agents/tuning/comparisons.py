"""The questions of a preference tuner, and the agent of duels that asks them and observes the answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bandit_envs.basics.arguments import require
from bandit_envs.problem.feedback import delivery
from bandit_envs.problem.setting import Setting

from ..named import is_name
from ..protocol import BaseAgent, defines
from ..registry import resolve_agent
from .plan import prior_kernel
from .space import Space, Values

OUTCOMES = {"first": 1.0, "second": 0.0, "tie": 0.5}
ONLY = np.zeros(1, dtype=np.float32)  # observation of the only context


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

    @property
    def winner(self) -> str | None:
        """Return "first", "second" or "tie", None without an answer."""
        return next((name for name, outcome in OUTCOMES.items() if outcome == self.outcome), None)

    def continues(self, earlier: Question) -> bool:
        """Return True if this is an earlier question with what was known of it."""
        answer, before = (self.outcome, self.answered_after), (earlier.outcome, earlier.answered_after)
        same = earlier.outcome is None or before == answer
        return self.pair == earlier.pair and same and self.dropped >= earlier.dropped


class PairPlayer:
    """Agent of duels on some points, which observes questions and their answers, and asks the next one.

    Args:
        points: of the space, n of them.
        agent, budget, seed: as for `PreferenceTuner`.
    """

    def __init__(self, space: Space, points: Sequence[Values], agent: Any, budget: int, seed: int):
        arms = np.array([space.features(point) for point in points])  # (n, d)
        published: dict[str, Any] = {"kernel": prior_kernel(space), "noise_std": 0.5, "duel": True}
        factory, needed = resolve_agent(agent), 'an agent of duels, such as "maxminlcb"'
        require(factory.features.duel, "agent", needed, agent)
        self.max_delay, self.closed = budget - 1, 0  # number of questions that the agent has observed
        self.agent: Any = factory(Setting(arms=arms, horizon=budget, max_delay=self.max_delay, **published))
        require(defines(self.agent, BaseAgent, "contest"), "agent", needed, agent)
        self.agent.reset(seed)

    def observe(self, questions: Sequence[Question], end: int) -> None:
        """Let the agent observe questions up to `end`, each with the answers given before the next one."""
        for t in range(self.closed, end):
            answered = [i for i, asked in enumerate(questions) if asked.answered_after == t + 1]
            came = np.array(answered, dtype=np.int64)
            won = np.array([questions[i].outcome for i in came], dtype=np.float64)
            news = delivery(t, came, won, np.empty((len(came), 0)), self.max_delay)
            self.agent.update(ONLY, np.array(questions[t].pair), float(won.sum()), news)
        self.closed = end

    def pair(self, incumbent: int | None = None) -> tuple[int, int]:
        """Return the agent's pair, or an incumbent and its challenger; never a point against itself."""
        first, second = map(int, self.agent.act(ONLY))
        if incumbent is not None:
            first = second = incumbent
        if first != second:
            return first, second
        contest = self.agent.contest(ONLY)
        chance = contest.upper[:, first].copy()
        chance[first] = -np.inf
        return first, contest.argmax(chance)


def outcome_of(winner: Any) -> float:
    """Return the outcome of a question, or raise unless the winner is "first", "second" or "tie"."""
    require(is_name(winner, *OUTCOMES), "winner", " or ".join(map(repr, OUTCOMES)), winner)
    return OUTCOMES[winner]


def questions_of(content: dict[str, Any]) -> list[Question]:
    """Return the questions of a file."""
    return [Question((first, second), *state) for first, second, *state in content["questions"]]


def checked_order(order: list[int], questions: Sequence[Question]) -> list[int]:
    """Return the tickets of the answered questions as they were answered, or raise."""
    answered = [ticket for ticket, each in enumerate(questions) if each.outcome is not None]
    when = [questions[ticket].answered_after or 0 for ticket in order]
    fits = sorted(order) == answered and when == sorted(when)
    require(fits, "order", "of the answered questions, by the number of questions at the time", order)
    return order


def champion(questions: Sequence[Question], order: Sequence[int], end: int) -> int | None:
    """Return the winner of the last answer before question `end`, None before any; a tie keeps the winner.

    Where all answers are ties it is the first of the first pair.
    """
    answered = [questions[ticket] for ticket in order]
    before = [each for each in answered if (each.answered_after or 0) <= end]
    decided = [each for each in before if each.outcome != OUTCOMES["tie"]] or before[:1]
    return decided[-1].pair[0 if (decided[-1].outcome or 0.0) >= 0.5 else 1] if decided else None
