"""What one trial has played and what came of it, value by value: fits want more than counts and sums."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bandit_envs.basics.types import Floats, Ints

from ..beliefs.base import Belief

THE_TRIAL = 0

Values = Callable[[Ints, Floats, Floats], Floats]  # trial, rewards and costs -> what an objective models


def rewards(trial: Ints, reward: Floats, cost: Floats) -> Floats:
    """The rewards themselves."""
    return reward


class TrainingData:
    """Plays in order, with their outcomes as far as they have arrived in time.

    Args:
        values: makes of rewards and costs what is modelled now.
    """

    def __init__(self, values: Values = rewards) -> None:
        self._values = values
        self._point: list[int] = []
        self._outcome: list[tuple[float, Floats] | None] = []  # None while pending, and if it was discarded
        self._first = 0  # round from which on it counts
        self._recalled: list[int] = []  # older rounds that count too
        self._dropped: set[int] = set()  # rounds
        self._weight: dict[int, float] = {}  # of rounds, where it is told

    def play(self, point: int) -> None:
        """The trial has just played a point."""
        self._point.append(point)
        self._outcome.append(None)

    def receive(self, rounds: Ints, reward: Floats, cost: Floats, weight: Floats | None = None) -> None:
        """Outcomes of earlier rounds arrive, (n,), (n,) and (n, C), and what they count as, (n,)."""
        if weight is not None:
            self._weight.update(zip(rounds.tolist(), weight.tolist(), strict=True))
        for t, y, g in zip(rounds.tolist(), reward.tolist(), cost, strict=True):
            self._outcome[t] = y, g

    def forget(self, first: int, recalled: Ints) -> None:
        """The trial starts over; plays from a round on count, and those of some older rounds, (n,)."""
        self._first, self._recalled = first, recalled.tolist()

    def drop(self, rounds: Ints) -> None:
        """Leave plays out of all samples, (n,)."""
        self._dropped.update(rounds.tolist())

    def sample(self, belief: Belief, everything: bool, most: int | None = None) -> tuple[Ints, Floats]:
        """Points and values minus their prior mean, (n,) each.

        Args:
            belief: of the one trial.
            everything: pending plays too, with the values that the belief assumes.
            most: of the latest plays that count; None is all.
        """
        kept = self._kept(everything, most)
        point = np.array([self._point[t] for t in kept], dtype=np.int64)
        told = [outcome for t in kept if (outcome := self._outcome[t]) is not None]
        here = np.array([self._outcome[t] is not None for t in kept], dtype=np.bool_)
        value, trial = np.zeros(len(point)), np.full(len(point), THE_TRIAL)
        if told:
            reward, cost = np.array([y for y, _ in told]), np.array([g for _, g in told])
            modelled = self._values(trial[here], reward, cost)
            value[here] = belief.residual(trial[here], point[here], modelled)
        value[~here] = belief.assumed(trial[~here], point[~here])
        return point, value

    def weights(self, belief: Belief, everything: bool, most: int | None = None) -> Floats | None:
        """How many plays of the model's noise those of the sample count as, (n,); None where each is one."""
        kept = self._kept(everything, most)
        known = belief.weights(np.array([self._point[t] for t in kept], dtype=np.int64))
        if known is None and not self._weight:
            return None
        usual = np.ones(len(kept)) if known is None else known
        return np.array([self._weight.get(t, w) for t, w in zip(kept, usual.tolist(), strict=True)])

    def _kept(self, everything: bool, most: int | None) -> list[int]:
        """The rounds of a sample."""
        rounds = [*self._recalled, *range(self._first, len(self._point))]
        kept = [t for t in rounds if t not in self._dropped and (everything or self._outcome[t] is not None)]
        return kept[0 if most is None else -most :]
