"""Sums of the outcomes of each point's plays, from which values follow in any units."""

from __future__ import annotations

import numpy as np

from bandit_envs.basics.types import Floats, Ints

from ..posteriors import SufficientStatistics


class Ledger:
    """Numbers of delivered plays of each point, and the sums of K quantities over them.

    Args:
        num_trials, quantities: B, K.
        num_points: N; it grows on a box.
    """

    def __init__(self, num_trials: int, quantities: int, num_points: int):
        self.plays = np.zeros((num_trials, num_points))
        self.total = np.zeros((num_trials, quantities, num_points))

    def receive(self, trial: Ints, point: Ints, values: Floats) -> None:
        """Add the outcomes of plays, (n,) and (n, K)."""
        self._reserve(point)
        np.add.at(self.plays, (trial, point), 1.0)
        for k, column in enumerate(values.T):
            np.add.at(self.total[:, k], (trial, point), column)

    def weighted(self, trial: int, point: Ints, weight: Floats, shift: float) -> SufficientStatistics:
        """Return sums of weight'y - shift over the delivered plays of a trial's points, weights (K,).

        Points may be pending, or new on a box: they have no delivered plays.
        """
        self._reserve(point)
        plays = self.plays[trial, point]
        return SufficientStatistics(point, plays, weight @ self.total[trial][:, point] - shift * plays)

    def forget(self, trial: Ints) -> None:
        """Clear the sums of some trials, (n,)."""
        self.plays[trial] = self.total[trial] = 0.0

    def _reserve(self, point: Ints) -> None:
        needed, old = 1 + int(point.max(initial=-1)), self.plays.shape[1]
        if needed > old:
            more = max(needed, 2 * old) - old
            self.plays = np.pad(self.plays, ((0, 0), (0, more)))
            self.total = np.pad(self.total, ((0, 0), (0, 0), (0, more)))
