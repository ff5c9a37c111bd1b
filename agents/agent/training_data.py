"""What one trial has played and what came of it, value by value: fits want more than counts and sums."""

from __future__ import annotations

import math

import numpy as np

from bandit_envs.basics.types import Floats, Ints

from ..beliefs.base import Belief

THE_TRIAL = 0


class TrainingData:
    """Plays in order, with their values as far as they have arrived in time."""

    def __init__(self) -> None:
        self._point: list[int] = []
        self._value: list[float] = []  # NaN while it is pending, and for ever if it was discarded
        self._first = 0  # round from which on it counts
        self._dropped: set[int] = set()  # rounds

    def play(self, point: int) -> None:
        """The trial has just played a point."""
        self._point.append(point)
        self._value.append(math.nan)

    def receive(self, rounds: Ints, value: Floats) -> None:
        """Values of earlier rounds arrive, (n,) each."""
        for t, y in zip(rounds.tolist(), value.tolist(), strict=True):
            self._value[t] = y

    def forget(self) -> None:
        """The trial starts over."""
        self._first = len(self._point)

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
        rounds = range(self._first, len(self._point))
        kept = [t for t in rounds if t not in self._dropped and (everything or math.isfinite(self._value[t]))]
        kept = kept[0 if most is None else -most :]
        point = np.array([self._point[t] for t in kept], dtype=np.int64)
        value = np.array([self._value[t] for t in kept], dtype=np.float64)
        here = np.isfinite(value)
        trial = np.full(len(point), THE_TRIAL)
        value[here] = belief.residual(trial[here], point[here], value[here])
        value[~here] = belief.assumed(trial[~here], point[~here])
        return point, value
