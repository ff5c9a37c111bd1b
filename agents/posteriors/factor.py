"""A posterior of any kernel, kept as one row a play and compacted now and then.

Sigma = K - V'V, where each play of x adds the row u = Sigma[:, x] / sqrt(s) to V. These rows are
part of a Cholesky factor: with X the points of the rows and L the triangle L[i, j] = V[j, x_i] for
j < i, L[i, i] = sqrt(s_i), values d at all points have the posterior mean V' L^-1 d_X.
"""

import abc
import math
from functools import cached_property

import numpy as np
from scipy.linalg import get_blas_funcs

from bandit_envs.basics.types import Floats, Ints
from bandit_envs.kernels.gram import Gram

from .base import SufficientStatistics, columns_at
from .decomposition import FIRST_CAPACITY, solve_vector
from .play_factor import SLACK, SPARE, PlayFactor
from .table import TablePosterior

(_trmv,) = get_blas_funcs(("trmv",), dtype=np.float64)


class PriorDraw:
    """z R of the root R (r, N) of a prior, for one z at a time; half the memory traffic where r = N.

    The root must have been computed pivot by pivot, R[i, pivots[j]] = 0 for j < i. It is stored a second
    time.
    """

    def __init__(self, gram: Gram):
        rest = np.setdiff1d(np.arange(gram.size), gram.pivots)
        self._triangle = np.asfortranarray(gram.root[:, gram.pivots])  # (r, r), upper
        self._rest = gram.root[:, rest]  # (r, N - r)
        self._place = np.argsort(np.concatenate([gram.pivots, rest]))

    def __call__(self, weight: Floats) -> Floats:
        """Return z R, (r,) -> (N,)."""
        at_pivots = _trmv(self._triangle, weight, trans=1)
        return np.concatenate([at_pivots, weight.dot(self._rest)]).take(self._place)


class CholeskyRows:
    """V and L of one trial; O(k N) a play, where k counts the rows."""

    def __init__(self, gram: Gram):
        self.gram = gram
        self.used = 0  # k
        self._played: set[int] = set()  # distinct points
        self._rows = np.empty((FIRST_CAPACITY, gram.size))  # V
        self._triangle = np.empty((FIRST_CAPACITY, FIRST_CAPACITY))  # L; above the diagonal it is never read
        self._point = np.empty(FIRST_CAPACITY, dtype=np.int64)  # X

    def column(self, x: int) -> Floats:
        """Return Sigma[:, x], (N,)."""
        rows = self._rows[: self.used]
        return self.gram.column(x) - rows[:, x] @ rows

    def append(self, x: int, noise: float) -> tuple[Floats, float]:
        """Add a play of x; return its row u, (N,), which is not to be written to, and sqrt(s)."""
        self._reserve(self.used + 1)
        k = self.used
        row, rows, shared = self._rows[k], self._rows[:k], self._triangle[k, :k]
        shared[:] = rows[:, x]
        np.matmul(shared, rows, out=row)
        np.subtract(self.gram.column(x), row, out=row)
        scale = math.sqrt(noise + row[x])
        row /= scale
        self._triangle[k, k], self._point[k] = scale, x
        self._played.add(x)
        self.used += 1
        return row, scale

    @property
    def crowded(self) -> bool:
        """True if so many rows repeat a point that starting again with one row a point is worth its cost."""
        return self.used > SLACK * len(self._played) + SPARE

    def explain(self, values: Floats) -> Floats:
        """Return the posterior mean of values at the played points, (N,) -> (N,): V' L^-1 d_X."""
        k = self.used
        innovation = solve_vector(self._triangle[:k], values.take(self._point[:k]))
        return innovation.dot(self._rows[:k])

    def replace(self, point: Ints, triangle: Floats, rows: Floats) -> None:
        """Start again with one row a distinct point."""
        k = len(point)
        self._reserve(k)
        self._rows[:k], self._triangle[:k, :k], self._point[:k] = rows, triangle, point
        self.used, self._played = k, set(point.tolist())

    def _reserve(self, rows: int) -> None:
        old = len(self._rows)
        if rows > old:
            more = max(rows, 2 * old) - old
            self._rows = np.pad(self._rows, ((0, more), (0, 0)))
            self._triangle = np.pad(self._triangle, (0, more))
            self._point = np.pad(self._point, (0, more))


class RowsPosterior(TablePosterior):
    """Base of posteriors that store rows of plays, trial by trial: stacking would copy or pad most rows."""

    def columns(self, trial: Ints, point: Ints) -> Floats:
        columns = np.empty((len(trial), self.gram.size))
        for row, i, x in zip(columns, trial.tolist(), point.tolist(), strict=True):
            row[:] = self._column(i, x)
        return columns

    @abc.abstractmethod
    def _column(self, i: int, x: int) -> Floats:
        """Return Sigma[:, x] of trial i, (N,)."""

    @abc.abstractmethod
    def _append(self, i: int, x: int, noise: float) -> tuple[Floats, float]:
        """Add a row to trial i, compacting before; return u (N,), which is read only, and sqrt(s)."""

    def _absorb(self, trial: Ints, point: Ints, noise: Floats) -> tuple[Floats, Floats]:
        root, scale = np.empty((len(trial), self.gram.size)), np.empty(len(trial))
        for j, play in enumerate(zip(trial.tolist(), point.tolist(), noise.tolist(), strict=True)):
            root[j], scale[j] = self._append(*play)
        return root, scale

    def _absorb_one(self, i: int, x: int) -> tuple[Floats, float]:
        return self._append(i, x, self.noise.item(i))

    def _white(self, rng: np.random.Generator) -> Floats:
        # Where the root is too large, z is a draw of the prior itself.
        structure = self.gram.structure
        return super()._white(rng) if structure is None else structure.draw(rng)


class FactorPosterior(RowsPosterior):
    """Posterior that stores Sigma = K - V'V with at most about 1.65 rows a distinct point u; O(u N) a play.

    Rebuilding V from the counts leaves one row a distinct point. The best form for more points than rounds,
    and the only one of a full-rank kernel without an (N, N) matrix.
    """

    def __init__(self, gram: Gram, noise: float | Floats, num_trials: int):
        super().__init__(gram, noise, num_trials)
        self._trial = [CholeskyRows(gram) for _ in range(num_trials)]

    def _column(self, i: int, x: int) -> Floats:
        return self._trial[i].column(x)

    def _append(self, i: int, x: int, noise: float) -> tuple[Floats, float]:
        if self._trial[i].crowded:
            self._restore_trial(i)
        return self._trial[i].append(x, noise)

    def _prior(self, weight: Floats) -> Floats:
        """Return the draws of the prior with variates z, (B, r) -> (B, N) or (r,) -> (N,)."""
        if self.gram.structure is not None:
            return weight  # z is the draw
        alone = weight.ndim == 1 and len(self.gram.pivots) == len(self.gram.root)
        return self._draw_prior(weight) if alone else weight @ self.gram.root

    @cached_property
    def _draw_prior(self) -> PriorDraw:
        return PriorDraw(self.gram)

    def _deviate(self, weight: Floats, played: list[Ints], noise: list[Floats]) -> Floats:
        # All rows of a point have the value f' + sqrt(lambda / n) e: their sum is n f' + sqrt(n lambda) e.
        prior = self._prior(weight)
        scale = np.sqrt(self.noise[:, None] / np.maximum(self.count, 1.0))
        value = prior + self._everywhere(played, noise) * scale
        explained = [rows.explain(row) for rows, row in zip(self._trial, value, strict=True)]
        return prior - np.array(explained)

    def _deviate_one(self, weight: Floats, played: Ints, noise: Floats) -> Floats:
        prior = self._prior(weight)
        value = prior.copy()
        value[played] += noise * np.sqrt(self.noise / self.count[0].take(played))
        return prior - self._trial[0].explain(value)

    def _forget(self, trial: Ints) -> None:
        for i in trial.tolist():
            self._trial[i] = CholeskyRows(self.gram)

    def _restore_trial(self, i: int) -> None:
        self._trial[i].replace(*self._condensed(i))


class PlayPosterior(RowsPosterior):
    """Posterior that stores L, of at most about 1.65 rows a distinct point u; of size N only the tables.

    With L L' = K_XX + diag(lambda / n) of the plays X, the play in row k of L changes mean and variance by

        u = K[:, X] w,    w = L'^-1 e_k,    Sigma -= u u',

    one combination of columns of K by a grid's factors or a Fourier transform, `Gram.combine`, which an
    observation, a correction and a sample take, beside O(u^2). The form for a kernel of full rank on a
    million points of a grid, where rows of other forms take 8 MB a play. Restoring a trial, and weight norms,
    take a combination a distinct point.
    """

    def __init__(self, gram: Gram, noise: float | Floats, num_trials: int):
        super().__init__(gram, noise, num_trials)
        self._factor = [PlayFactor(gram, each, SufficientStatistics.none()) for each in self.noise.tolist()]

    def weight_norm_at(self, cells: Ints | None) -> Floats:
        norms = np.zeros(self.mean.shape)
        for i, row in enumerate(norms):
            for x, plays in zip(*self.statistics(i)[:2], strict=True):
                row += plays * self._column(i, int(x)) ** 2
            row[:] = np.sqrt(row) / self.noise[i]
        return columns_at(norms, cells)

    def _column(self, i: int, x: int) -> Floats:
        factor = self._factor[i]  # Sigma[:, x] = K[:, x] - K[:, X] L'^-1 v(x)
        weight = factor.back(factor.explain(np.array([x])))[:, 0]
        return self.gram.combine(np.append(factor.point, x), np.append(-weight, 1.0))

    def _append(self, i: int, x: int, noise: float) -> tuple[Floats, float]:
        if self._factor[i].crowded:
            self._factor[i] = PlayFactor(self.gram, self.noise.item(i), self.statistics(i))
        factor = self._factor[i]
        factor.append(x, 0.0, self.noise.item(i) / noise)  # values are in the counts, not in the row
        last = np.zeros(factor.used)
        last[-1] = 1.0
        return self.gram.combine(factor.point, factor.back(last)), factor.triangle[-1, -1].item()

    def _deviate(self, weight: Floats, played: list[Ints], noise: list[Floats]) -> Floats:
        # All rows of a point have the value f' + sqrt(lambda / n) e: their sum is n f' + sqrt(n lambda) e.
        deviations = []
        for i, (z, x, e) in enumerate(zip(weight, played, noise, strict=True)):
            factor = self._factor[i]
            prior = z @ self.gram.root if self.gram.structure is None else z
            value = prior[x] + e * np.sqrt(self.noise[i] / self.count[i, x])
            seen = value[np.searchsorted(x, factor.point)]
            deviations.append(prior - self.gram.combine(factor.point, factor.back(factor.solve(seen))))
        return np.array(deviations)

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
