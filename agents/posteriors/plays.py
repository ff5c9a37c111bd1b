r"""Posterior of any kernel in the form of the plays alone: every row over the points is recomputed.

With L L' = K_XX + diag(lambda / n) of the plays X, the play in row k of L changes mean and variance by

    u = K[:, X] w,    w = L'^-1 e_k,    Sigma -= u u',

one combination of columns of K. `Gram.combine` computes it by the factors of a grid, or a Fourier transform.
"""

from __future__ import annotations

import numpy as np

from bandit_envs.basics.types import Floats, Ints
from bandit_envs.kernels.gram import Gram

from .base import SufficientStatistics
from .play_factor import PlayFactor
from .table import TablePosterior


class PlayPosterior(TablePosterior):
    """Posterior that stores L, of at most about 1.65 rows a distinct point u; of size N only the tables.

    An observation, a correction and a sample take a combination and O(u^2); O(u^2 + N) memory a trial. The
    form for a kernel of full rank on a million points of a grid, where rows of other forms take 8 MB a play.
    Restoring a trial, and weight norms, take a combination a distinct point.
    """

    def __init__(self, gram: Gram, noise: float | Floats, num_trials: int):
        super().__init__(gram, noise, num_trials)
        self._factor = [PlayFactor(gram, each, SufficientStatistics.none()) for each in self.noise.tolist()]

    def columns(self, trial: Ints, point: Ints) -> Floats:
        columns = np.empty((len(trial), self.gram.size))
        for row, i, x in zip(columns, trial.tolist(), point.tolist(), strict=True):
            row[:] = self._column(self._factor[i], x)
        return columns

    def weight_norm_at(self, cells: Ints | None) -> Floats:
        norms = np.zeros(self.mean.shape)
        for i, row in enumerate(norms):
            for x, plays in zip(*self.statistics(i)[:2], strict=True):
                row += plays * self._column(self._factor[i], int(x)) ** 2
            row[:] = np.sqrt(row) / self.noise[i]
        return norms if cells is None else np.take_along_axis(norms, cells, axis=1)

    def _column(self, factor: PlayFactor, x: int) -> Floats:
        """Return Sigma[:, x] = K[:, x] - K[:, X] L'^-1 v(x), (N,)."""
        weight = factor.back(factor.explain(np.array([x])))[:, 0]
        return self.gram.combine(np.append(factor.point, x), np.append(-weight, 1.0))

    def _absorb(self, trial: Ints, point: Ints, noise: Floats) -> tuple[Floats, Floats]:
        root, scale = np.empty((len(trial), self.gram.size)), np.empty(len(trial))
        for j, (i, x, plays) in enumerate(zip(trial, point, self.noise[trial] / noise, strict=True)):
            root[j], scale[j] = self._append(i, int(x), plays)
        return root, scale

    def _absorb_one(self, i: int, x: int) -> tuple[Floats, float]:
        return self._append(i, x, 1.0)

    def _append(self, i: int, x: int, plays: float) -> tuple[Floats, float]:
        """Add a row to trial i; return u (N,) and sqrt(s). Values are in the journal, not in the row."""
        if self._factor[i].crowded:
            self._factor[i] = PlayFactor(self.gram, self.noise.item(i), self.statistics(i))
        factor = self._factor[i]
        factor.append(x, 0.0, plays)
        last = np.zeros(factor.used)
        last[-1] = 1.0
        return self.gram.combine(factor.point, factor.back(last)), factor.triangle[-1, -1].item()

    def _white(self, rng: np.random.Generator) -> Floats:
        # Where the root is too large, z is a draw of the prior itself.
        structure = self.gram.structure
        return super()._white(rng) if structure is None else structure.draw(rng)

    def _deviate(self, weight: Floats, noise: Floats) -> Floats:
        drawn = np.empty_like(self.mean)
        for i, (z, e) in enumerate(zip(weight, noise, strict=True)):
            played = self._journal.played(i)
            drawn[i] = self._deviated(i, z, played, e[played])
        return drawn

    def _deviate_one(self, weight: Floats, played: Ints, noise: Floats) -> Floats:
        return self._deviated(0, weight, played, noise)

    def _deviated(self, i: int, weight: Floats, played: Ints, noise: Floats) -> Floats:
        # All rows of a point have the value f' + sqrt(lambda / n) e: their sum is n f' + sqrt(n lambda) e.
        factor = self._factor[i]
        prior = weight @ self.gram.root if self.gram.structure is None else weight
        value = prior[played] + noise * np.sqrt(self.noise[i] / self.count[i, played])
        seen = value[np.searchsorted(played, factor.point)]
        return prior - self.gram.combine(factor.point, factor.back(factor.solve(seen)))

    def _forget(self, trial: Ints) -> None:
        for i in trial.tolist():
            self._factor[i] = PlayFactor(self.gram, self.noise.item(i), SufficientStatistics.none())

    def _restore_trial(self, i: int) -> None:
        factor = PlayFactor(self.gram, self.noise.item(i), self.statistics(i))
        self._factor[i], self.gain[i] = factor, factor.gain
        self.mean[i] = self.gram.combine(factor.point, factor.weights)
        self.variance[i] = self.gram.diagonal
        for weight in factor.back(np.eye(factor.used)).T:
            self.variance[i] -= self.gram.combine(factor.point, weight) ** 2
