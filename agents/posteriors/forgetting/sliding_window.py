"""Memory of a sliding window: the last W plays, with equal weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from bandit_envs.kernels.gram import Gram

from .play_memory import PlayMemory
from .tallied import Tallied

PLAY = np.dtype([("point", np.int64), ("value", np.float64), ("plays", np.float64), ("played", np.int64)])


class LastPlays(PlayMemory):
    """Posterior of the plays of the last W rounds; O(W (W + N)) a round.

    A value delivered after its play has left the window is not learnt.

    Args:
        gram, noise: the prior and lambda.
        window: W.
    """

    def __init__(self, gram: Gram, noise: float, window: int):
        super().__init__(gram, noise)
        self.window = window

    def advance(self) -> None:
        """Remove the plays that leave the window."""
        self.now += 1
        outdated = (self.kept.plays["played"] <= self.now - self.window).nonzero()[0]
        for j in outdated[::-1].tolist():
            self.kept.drop(j)

    def observe(self, x: int, value: float, age: int, plays: float = 1.0) -> None:
        """Condition on a value from within the window."""
        if age < self.window:
            play = (x, value, self.noise / plays, 1.0, self.now - age, self.now)
            self.kept.append(play, self.kept.among(x))


class LastCounts(Tallied):
    """Posterior of the last W rounds from counts, for windows larger than N; O(W + u^3 + u^2 N) a round.

    The counts and sums of the u points in the window are recomputed, so that rounding does not accumulate.

    Args:
        gram, noise, window: as for `LastPlays`.
    """

    def __init__(self, gram: Gram, noise: float, window: int):
        super().__init__(gram, noise)
        self.window, self._now = window, 0
        self._plays = np.empty(0, PLAY)  # plays in the window, in order of delivery

    def advance(self) -> None:
        """Remove the plays that leave the window."""
        self._now += 1
        kept = self._plays["played"] > self._now - self.window
        if not kept.all():
            self._plays = self._plays[kept]
            self._add_up()

    def observe(self, x: int, value: float, age: int, plays: float = 1.0) -> None:
        """Condition on a value from within the window."""
        if age < self.window:
            self._plays = np.append(self._plays, np.array([(x, value, plays, self._now - age)], PLAY))
            self._add_up()

    def correct(self, x: int, change: float) -> None:
        """Change the value of one play of x in its last row, whose mean changes by the play's share."""
        j = (self._plays["point"] == x).nonzero()[0][-1]
        self._plays["value"][j] += change / self._plays["plays"][j]
        self._add_up()

    def replay(self, other: Any) -> None:
        """Copy the plays and rounds of another memory."""
        self._now, self._plays = other._now, other._plays.copy()
        self._add_up()

    def _add_up(self) -> None:
        point, plays = self._plays["point"], self._plays["plays"]
        self._count = self._squares = np.bincount(point, plays, self.gram.size)
        self._total = np.bincount(point, plays * self._plays["value"], self.gram.size)
        self._forget_factor()
