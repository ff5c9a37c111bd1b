"""Posterior on (context, arm) pairs, of which a round reads one context's alone."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence

import numpy as np

from bandit_envs.basics.types import Floats, Ints
from bandit_envs.kernels.gram import Gram

from .base import Posterior
from .cell_rows import CellRows
from .play_factor import PlayFactor
from .sufficient_statistics import SufficientStatistics

CACHE_BYTES = (
    2**26
)  # a trial, of the latest contexts; not less in a large batch, or trials would depend on the batch


class PairPosterior(Posterior):
    """Posterior that stores plays, and rows over the arms of the latest contexts; no table of size N.

    O(t A + t^2) a round of t plays. A context that returns is updated with the plays since, O(t A) each. It
    loops over trials: their plays and contexts differ, and stacking them would copy or pad all rows.
    """

    def __init__(self, gram: Gram, noise: float | Floats, num_trials: int):
        super().__init__(gram, noise, num_trials)
        self._trial = [PairTrial(gram, float(each)) for each in self.noise]

    @property
    def gain(self) -> Floats:
        """Information gain, (B,): 1/2 logdet(I + K_t / lambda)."""
        return np.array([trial.factor.gain for trial in self._trial])

    def observe(self, trial: Ints, point: Ints, value: Floats) -> None:
        """Condition on one observation a trial, (n,) each; trials ascend and none repeats."""
        for i, x, y in zip(trial.tolist(), point.tolist(), value.tolist(), strict=True):
            self._trial[i].observe(x, y)

    def observe_sums(self, trial: Ints, point: Ints, plays: Floats, total: Floats) -> None:
        """Condition on several observations of one point a trial: a row of their number and their sum."""
        for i, *play in zip(*(each.tolist() for each in (trial, point, total, plays)), strict=True):
            self._trial[i].observe(*play)

    def correct(self, trial: Ints, point: Ints, change: Floats) -> None:
        """Change the values of earlier observations, (n,) each; trials may repeat."""
        for i, x, dy in zip(trial.tolist(), point.tolist(), change.tolist(), strict=True):
            self._trial[i].factor.correct(x, dy)

    def mean_at(self, cells: Ints | None) -> Floats:
        """Posterior mean at ascending points of each trial, (B, A); None for all points."""
        return np.array([rows.mean for rows in self._at(cells)])

    def variance_at(self, cells: Ints | None) -> Floats:
        """Posterior variance at ascending points of each trial, (B, A); None for all points."""
        return np.array([rows.variance for rows in self._at(cells)])

    def weight_norm_at(self, cells: Ints | None) -> Floats:
        """|a_x| at ascending points of each trial, (B, A); None for all points."""
        return np.array([rows.weight_norm for rows in self._at(cells)])

    def count_at(self, cells: Ints | None) -> Floats:
        """Plays of ascending points of each trial, (B, A); None for all points."""
        return np.array([rows.count for rows in self._at(cells)])

    def deviation_at(self, cells: Ints | None, rngs: Sequence[np.random.Generator]) -> Floats:
        """Draw f - mean jointly at ascending points of each trial, (B, A); None for all points."""
        return np.array([rows.deviation(rng) for rows, rng in zip(self._at(cells), rngs, strict=True)])

    def mean_of(self, trial: Ints, point: Ints) -> Floats:
        """Posterior mean at single points, (n,) each -> (n,)."""
        mean = np.empty(len(trial))
        for i in np.unique(trial).tolist():
            factor, mine = self._trial[i].factor, trial == i
            mean[mine] = factor.innovation @ factor.explain(point[mine])
        return mean

    def variance_of(self, trial: Ints, point: Ints) -> Floats:
        """Posterior variance at single points, (n,) each -> (n,)."""
        variance = self.gram.diagonal[point]
        for i in np.unique(trial).tolist():
            mine = trial == i
            variance[mine] -= (self._trial[i].factor.explain(point[mine]) ** 2).sum(axis=0)
        return variance

    def factor(self, trial: int) -> PlayFactor:
        """Return the plays of one trial as a factor, which determines its posterior anywhere."""
        return self._trial[trial].factor

    def reset(self, trial: Ints) -> None:
        """Return the given trials, (n,), to the prior."""
        for i in trial.tolist():
            self._trial[i] = PairTrial(self.gram, float(self.noise[i]))

    def statistics(self, trial: int) -> SufficientStatistics:
        """Plays and value sums of one trial."""
        return self._trial[trial].factor.statistics

    def condition_on(self, trial: int, seen: SufficientStatistics) -> None:
        """Replace the plays and value sums of one trial."""
        self._trial[trial].rebuild(seen)

    def _at(self, cells: Ints | None) -> Iterator[CellRows]:
        if cells is None:
            cells = np.broadcast_to(np.arange(self.gram.size), (len(self._trial), self.gram.size))
        return (trial.at(row) for trial, row in zip(self._trial, cells, strict=True))


class PairTrial:
    """One trial: its plays, and rows of the latest contexts."""

    def __init__(self, gram: Gram, noise: float):
        self.factor = PlayFactor(gram, noise, SufficientStatistics.none())
        self._seen: OrderedDict[bytes, CellRows] = OrderedDict()  # by cells, the latest last

    def observe(self, x: int, total: float, plays: float = 1.0) -> None:
        """Add plays of a point."""
        if self.factor.crowded:
            self.rebuild(self.factor.statistics)
        self.factor.append(x, total, plays)

    def rebuild(self, seen: SufficientStatistics) -> None:
        """Rebuild the factor with one row a distinct point."""
        self.factor = PlayFactor(self.factor.gram, self.factor.noise, seen)
        self._seen.clear()

    def at(self, cells: Ints) -> CellRows:
        """Return the posterior at ascending points, (A,)."""
        key = cells.tobytes()
        if key not in self._seen:
            while self._seen and sum(rows.nbytes for rows in self._seen.values()) > CACHE_BYTES:
                self._seen.popitem(last=False)
            self._seen[key] = CellRows(self.factor, cells)
        self._seen.move_to_end(key)
        return self._seen[key]
