"""A posterior of low rank, kept as the covariance of a few weights.

With K = R'R, R (r, N), the function is f = R'w with w ~ N(0, I) and its posterior is Sigma = R'SR,

    S = (I + R diag(n / lambda) R')^-1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
from scipy.linalg import get_blas_funcs, solve_triangular

from bandit_envs.basics.types import Floats, Ints
from bandit_envs.kernels.gram import Gram

from .journal import LateTables
from .table import TablePosterior, subtract

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


(_ger,) = get_blas_funcs(("ger",), dtype=np.float64)

EVERYWHERE = slice(None)


class WeightSpacePosterior(TablePosterior):
    """Posterior that stores S, (B, r, r); O(r N + r^2) an observation.

    The root of the prior is shared by the trials. The best form while the rank r is small: the squared
    exponential kernel with length-scale 0.2 on [0, 1] has r = 19 at any N.
    """

    def __init__(self, gram: Gram, noise: float | Floats, num_trials: int):
        super().__init__(gram, noise, num_trials)
        self._root = np.ascontiguousarray(gram.root)  # (r, N) R
        self._feature = np.ascontiguousarray(gram.root.T)  # (N, r)
        rank = len(self._root)
        self._prior = np.eye(rank)
        self._covariance = np.tile(self._prior, (num_trials, 1, 1))  # (B, r, r) S
        self._outer = np.empty_like(self._covariance)
        late = self._slabs, self._variance_afresh, rank
        self._tables = self._late = LateTables(self.mean, self.variance, *late)

    def columns(self, trial: Ints, point: Ints) -> Floats:
        return _products(self._covariance[trial], self._feature[point]) @ self._root

    def _absorb(self, trial: Ints, point: Ints, noise: Floats) -> tuple[Floats, Floats]:
        rows = self._rows(trial)
        feature = self._feature.take(point, axis=0)
        weight = _products(self._covariance[rows], feature)
        scale = np.sqrt(noise + np.vecdot(feature, weight))
        weight /= scale[:, None]
        outer = self._outer[: len(trial)]
        subtract(self._covariance, rows, np.multiply(weight[:, :, None], weight[:, None, :], out=outer))
        return weight @ self._root, scale

    def _observe_one(self, i: int, x: int, value: float) -> None:
        feature, covariance = self._feature[x], self._covariance[i]
        weight = covariance.dot(feature)  # half the time of @ for small arrays
        scale = math.sqrt(self.noise.item(i) + feature.dot(weight))
        weight /= scale
        _ger(-1.0, weight, weight, a=covariance.T, overwrite_a=1)  # S -= w w', in place
        self._late.note(i, weight, (value - self._late.mean_at(i, x, feature)) / scale)
        self._journal.write_one(i, x, value, scale)

    def _slabs(self, weight: Floats) -> Iterable[tuple[slice, Floats]]:
        return ((EVERYWHERE, weight.dot(self._root)),)

    def _variance_afresh(self, i: int) -> Floats:
        return np.einsum("rn,rn->n", self._covariance[i].dot(self._root), self._root)

    def _deviate(self, weight: Floats, noise: Floats) -> Floats:
        # In weights Matheron's rule is S (z - R sqrt(n / lambda) e): no difference of large numbers.
        pull = weight - (noise * np.sqrt(self.count / self.noise[:, None])) @ self._feature
        return _products(self._covariance, pull) @ self._root

    def sample_at(
        self, cells: Ints | None, rngs: Sequence[np.random.Generator], factor: Floats | float
    ) -> Floats:
        if len(rngs) > 1 or cells is not None:
            return super().sample_at(cells, rngs, factor)
        weight = self._pulled(*self._drawn_alone(rngs[0]))
        weight *= factor
        return self._late.sample(0, weight)[None]

    def _deviate_one(self, weight: Floats, played: Ints, noise: Floats) -> Floats:
        return self._pulled(weight, played, noise).dot(self._root)

    def _pulled(self, weight: Floats, played: Ints, noise: Floats) -> Floats:
        """Apply Matheron's rule in weights in the only trial, (r,)."""
        noise_variance = self.noise.item()  # a number: half the time of an array of one
        rate = self._journal.plays(0, played) / noise_variance
        pull = weight - (noise * np.sqrt(rate)).dot(self._feature.take(played, axis=0))
        return self._covariance[0].dot(pull)

    def _forget(self, trial: Ints) -> None:
        self._covariance[trial] = self._prior

    def _restore_trial(self, i: int) -> None:
        condensed = self._condensed(i)
        # S = (A'A)^-1 with A = [I; sqrt(n / lambda) R_X']; A'A itself would square the condition number.
        x = condensed.point
        data = self._feature[x] * np.sqrt(self.count[i, x] / self.noise[i])[:, None]
        triangle = np.linalg.qr(np.vstack([self._prior, data]), mode="r")
        inverse = solve_triangular(triangle, self._prior)
        self._covariance[i] = inverse @ inverse.T


def _products(matrices: Floats, vectors: Floats) -> Floats:
    """Return each trial's matrix times its vector, (n, r, r) and (n, r) -> (n, r)."""
    return np.matmul(matrices, vectors[:, :, None])[:, :, 0]
