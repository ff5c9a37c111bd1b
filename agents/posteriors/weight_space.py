"""A posterior of low rank, kept as the covariance of a few weights.

With K = R'R, R (r, N), the function is f = R'w with w ~ N(0, I) and its posterior is Sigma = R'SR,

    S = (I + R diag(n / lambda) R')^-1.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from scipy.linalg import get_blas_funcs, solve_triangular

from bandit_envs.basics.types import Floats, Ints
from bandit_envs.kernels.gram import Gram

from .band_search import BandSearch
from .base import columns_at
from .table import TablePosterior, change_rows

_axpy, _ger, _scal = get_blas_funcs(("axpy", "ger", "scal"), dtype=np.float64)
EVERYWHERE = slice(None)
Slabs = Callable[[Floats], Iterable[tuple[slice, Floats]]]
SEARCHED = 2 * 10**5  # points from which on a search for the best is cheaper than all scores


class LazyTables:
    """Tables of f = R'w, which cost nothing in rounds of rules that read neither, such as Thompson sampling.

    Plays update the tables at once; after a sample or a search they are stored until a table is read.

    Args:
        mean, variance: of the prior, (B, N) each, which then belong to the tables.
        slabs: from weights (r,), R'w slice after slice of points.
        afresh: from a trial, its variance, (N,), from the weights' covariance: cheaper beyond `rank` = r
            plays.
    """

    def __init__(
        self, mean: Floats, variance: Floats, slabs: Slabs, afresh: Callable[[int], Floats], rank: int
    ):
        self._mean, self._variance, self._rank = mean, variance, rank
        self._slabs, self._afresh = slabs, afresh
        self._plays: list[list[tuple[Floats, float]]] = [[] for _ in mean]  # not yet in the tables
        self._missing = list(np.zeros((len(mean), rank)))  # weights missing in the mean, (r,) each
        self.deferring = False  # True where plays are stored until a table is read

    @property
    def mean(self) -> Floats:
        """Posterior mean, (B, N)."""
        if self.deferring:
            self._catch_up()
        return self._mean

    @property
    def variance(self) -> Floats:
        """Posterior variance, (B, N)."""
        if self.deferring:
            self._catch_up()
        return self._variance

    def mean_at(self, trial: int, point: int, feature: Floats) -> float:
        """Return the mean at one point, whose column of R is given, (r,)."""
        shown = self._mean.item(trial, point)
        return shown + float(feature.dot(self._missing[trial])) if self._plays[trial] else shown

    def sample(self, trial: int, weight: Floats) -> Floats:
        """Return the mean plus R'w, (N,), in one product; the weight is used up."""
        self.deferring = True
        mean, slabs = self._mean[trial], self._slabs(_axpy(self._missing[trial], weight))
        parts = [_axpy(mean[points], values) for points, values in slabs]  # added to the values in place
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def note(self, trial: int, weight: Floats, innovation: float) -> None:
        """Record a play that moves the mean by R'w times the innovation, and the variance by -(R'w)^2."""
        if not self.deferring:
            self._show(trial, weight, innovation)
            return
        missing, plays = self._missing[trial], self._plays[trial]
        _axpy(weight, missing, a=innovation)
        if len(plays) <= self._rank:
            plays.append((weight, innovation))

    def _catch_up(self) -> None:
        for i, (plays, missing) in enumerate(zip(self._plays, self._missing, strict=True)):
            if len(plays) > self._rank:
                self._mean[i] = self.sample(i, np.zeros(self._rank))
                self._variance[i] = self._afresh(i)
            else:
                for weight, innovation in plays:
                    self._show(i, weight, innovation)
            plays.clear()
            missing[:] = 0.0
        self.deferring = False

    def _show(self, trial: int, weight: Floats, innovation: float) -> None:
        # Slab by slab: data that stay in the cache take a third of the time.
        mean, variance = self._mean[trial], self._variance[trial]
        for points, root in self._slabs(weight):
            _axpy(root, mean[points], a=innovation)  # in place, in half the time of numpy's operators
            _axpy(np.multiply(root, root, root), variance[points], a=-1.0)


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
        self._played, self._played_feature = np.empty(0, dtype=np.int64), np.empty((0, rank))
        late = self._slabs, self._variance_afresh, rank
        self._tables = self._late = LazyTables(self.mean, self.variance, *late)

    def columns(self, trial: Ints, point: Ints) -> Floats:
        return _products(self._covariance[trial], self._feature[point]) @ self._root

    def _absorb(self, trial: Ints, point: Ints, noise: Floats) -> tuple[Floats, Floats]:
        rows = self._rows(trial)
        feature = self._feature.take(point, axis=0)
        weight = _products(self._covariance[rows], feature)
        scale = np.sqrt(noise + np.vecdot(feature, weight))
        weight /= scale[:, None]
        outer = self._outer[: len(trial)]
        change_rows(np.subtract, self._covariance, rows, np.einsum("bi,bj->bij", weight, weight, out=outer))
        return weight @ self._root, scale

    def _observe_one(self, i: int, x: int, value: float) -> None:
        feature = self._feature[x]
        weight, scale = _absorb_one(self._covariance[i], feature, self.noise.item(i))
        self._late.note(i, weight, (value - self._late.mean_at(i, x, feature)) / scale)
        self._play_counts.write_one(i, x, value, scale)

    def _slabs(self, weight: Floats) -> Iterable[tuple[slice, Floats]]:
        return ((EVERYWHERE, weight.dot(self._root)),)

    def _variance_afresh(self, i: int) -> Floats:
        return np.einsum("rn,rn->n", self._covariance[i].dot(self._root), self._root)

    def sample_at(
        self, cells: Ints | None, rngs: Sequence[np.random.Generator], factor: Floats | float
    ) -> Floats:
        if cells is not None:
            return super().sample_at(cells, rngs, factor)
        if len(rngs) == 1:
            weight = self._conditioned(*self._drawn_single(rngs[0]))
            return self._late.sample(0, _scal(float(factor), weight))[None]
        sample = (factor * self._conditioned_each(*self._drawn_each(rngs))) @ self._root
        sample += self.mean
        return sample

    def _deviate(self, weight: Floats, played: list[Ints], noise: list[Floats]) -> Floats:
        return self._conditioned_each(weight, played, noise) @ self._root

    def _conditioned_each(self, weight: Floats, played: list[Ints], noise: list[Floats]) -> Floats:
        """Apply Matheron's rule in weights, S (z - R sqrt(n / lambda) e): no difference of large numbers."""
        cell = self._cells(played)
        rate = self.count.ravel()[cell] / np.repeat(self.noise, list(map(len, played)))
        pulled = np.zeros_like(self.mean)
        pulled.ravel()[cell] = np.concatenate(noise) * np.sqrt(rate)
        return _products(self._covariance, weight - pulled @ self._feature)

    def _deviate_one(self, weight: Floats, played: Ints, noise: Floats) -> Floats:
        return self._conditioned(weight, played, noise).dot(self._root)

    def _conditioned(self, weight: Floats, played: Ints, noise: Floats) -> Floats:
        """Apply Matheron's rule in weights in the only trial, (r,); the weight and the noise are used up."""
        if played is not self._played:
            self._played, self._played_feature = played, self._feature.take(played, axis=0)
        plays = self.count[0].take(played)
        np.multiply(noise, np.sqrt(plays, plays), noise)
        _axpy(noise.dot(self._played_feature), weight, a=-1.0 / math.sqrt(self.noise.item()))
        return self._covariance[0].dot(weight)

    def _forget(self, trial: Ints) -> None:
        self._covariance[trial] = self._prior

    def _restore_trial(self, i: int) -> None:
        x, *_ = self._condensed(i)
        # S = (A'A)^-1 with A = [I; sqrt(n / lambda) R_X']; A'A itself would square the condition number.
        data = self._feature[x] * np.sqrt(self.count[i, x] / self.noise[i])[:, None]
        triangle = np.linalg.qr(np.vstack([self._prior, data]), mode="r")
        inverse = solve_triangular(triangle, self._prior)
        self._covariance[i] = inverse @ inverse.T


def _absorb_one(covariance: Floats, feature: Floats, noise: float) -> tuple[Floats, float]:
    """Update S (r, r) by one play of features r_x (r,); return S r_x / sqrt(s) (r,) and sqrt(s)."""
    weight = covariance.dot(feature)  # half the time of @ for small arrays
    scale = math.sqrt(noise + feature.dot(weight))
    _scal(1.0 / scale, weight)  # in place, in a quarter of the time of numpy's operator
    _ger(-1.0, weight, weight, 1, 1, covariance.T, 1, 1, 1)  # S -= w w' in place; named arguments take longer
    return weight, scale


def _products(matrices: Floats, vectors: Floats) -> Floats:
    """Return each trial's matrix times its vector, (n, r, r) and (n, r) -> (n, r)."""
    return np.matmul(matrices, vectors[:, :, None])[:, :, 0]


class KroneckerPosterior(TablePosterior):
    """Posterior that stores S, (B, r, r), r = r_1 ... r_k; O(r^2 + r_1 N) an observation, O(r) memory a play.

    With R = R_1 (x) ... (x) R_k, R itself is never formed: R'w is one product a factor, and a feature the
    product of a column of each. An observation is O(r^2) if the tables are not read in between. The best form
    for a product kernel of few weights on a large grid: the squared exponential with length-scale 0.2 on 1000
    x 1000 points has r = 19 x 19. Samples agree with the other forms in law, and exactly where there is one
    factor. Of one trial the largest scores are searched, see `BandSearch`.
    """

    def __init__(self, gram: Gram, noise: float | Floats, num_trials: int):
        super().__init__(gram, noise, num_trials)
        self._factors = gram.kronecker
        self._prior = np.eye(self._factors.rank)
        self._covariance = np.tile(self._prior, (num_trials, 1, 1))  # (B, r, r) S
        late = self._factors.slabs, self._variance_afresh, self._factors.rank
        self._tables = self._late = LazyTables(self.mean, self.variance, *late)
        self._search: BandSearch | None = None
        self._play_by_play = True  # until values are corrected or come as sums, which a search does not note

    @property
    def searches(self) -> bool:
        many = self.gram.size >= SEARCHED and len(self._factors.roots) > 1
        return many and len(self.noise) == 1 and self._play_by_play

    def argmax_ucb(self, width: float, tie: float) -> Ints | None:
        if width < 0.0 or not self.searches:
            return None
        if self._search is None:
            self._search = BandSearch(self._factors, self.mean[0], self.variance[0])
        self._late.deferring = True
        return self._search.largest(width, tie, self._covariance[0])

    def columns(self, trial: Ints, point: Ints) -> Floats:
        return self._factors.expand(self._weights(trial, point))

    def weight_norm_at(self, cells: Ints | None) -> Floats:
        """|a_x| at some points of each trial, (B, A): diag(R'S M S R) / lambda^2, M = sum_p n_p r_p r_p'."""
        norms = np.empty(self.mean.shape)
        for i, (row, count) in enumerate(zip(norms, self.count, strict=True)):
            played = self._play_counts.played(i)
            pull = self._weights(np.full(len(played), i), played) * np.sqrt(count[played])[:, None]
            row[:] = np.sqrt(np.maximum(self._factors.quadratic(pull.T @ pull), 0.0)) / self.noise[i]
        return columns_at(norms, cells)

    def _weights(self, trial: Ints, point: Ints) -> Floats:
        """S r_x of trials that may repeat, (n,) each -> (n, r)."""
        weights = self._factors.features(point)
        for row, i in zip(weights, trial.tolist(), strict=True):  # S[trial] would copy (n, r, r)
            row[:] = self._covariance[i] @ row
        return weights

    def sample_at(
        self, cells: Ints | None, rngs: Sequence[np.random.Generator], factor: Floats | float
    ) -> Floats:
        each = np.broadcast_to(factor, (len(rngs), 1)) * self._conditioned(*self._drawn_each(rngs))
        return columns_at(np.array([self._late.sample(i, weight) for i, weight in enumerate(each)]), cells)

    def _white(self, rng: np.random.Generator) -> Floats:
        return self._factors.quick_white(rng)

    def _observe_one(self, i: int, x: int, value: float) -> None:
        (feature,) = self._factors.features(np.array([x]))
        weight, scale = _absorb_one(self._covariance[i], feature, self.noise.item(i))
        innovation = (value - self._late.mean_at(i, x, feature)) / scale
        self._late.note(i, weight, innovation)
        if self._search is not None:
            self._search.note(weight, innovation)
        self._play_counts.write_one(i, x, value, scale)

    def correct(self, trial: Ints, point: Ints, change: Floats) -> None:
        self._play_by_play, self._search = False, None
        super().correct(trial, point, change)

    def _variance_afresh(self, i: int) -> Floats:
        return self._factors.quadratic(self._covariance[i])

    def _absorb(self, trial: Ints, point: Ints, noise: Floats) -> tuple[Floats, Floats]:
        self._play_by_play, self._search = False, None
        rows = self._rows(trial)
        feature = self._factors.features(point)
        weight = np.matmul(self._covariance[rows], feature[:, :, None])[:, :, 0]
        scale = np.sqrt(noise + np.vecdot(feature, weight))
        weight /= scale[:, None]
        for i, row in zip(trial.tolist(), weight, strict=True):  # S -= w w', in place: a product is (n, r, r)
            _ger(-1.0, row, row, a=self._covariance[i].T, overwrite_a=1)
        return self._factors.expand(weight), scale

    def _deviate(self, weight: Floats, played: list[Ints], noise: list[Floats]) -> Floats:
        return self._factors.expand(self._conditioned(weight, played, noise))

    def _conditioned(self, weight: Floats, played: list[Ints], noise: list[Floats]) -> Floats:
        """Apply Matheron's rule in weights, S (z - R_X sqrt(n / lambda) e), (B, r)."""
        sample = np.empty_like(weight)
        for i, (z, x, e) in enumerate(zip(weight, played, noise, strict=True)):
            pull = e * np.sqrt(self.count[i, x] / self.noise[i])
            sample[i] = self._covariance[i] @ (z - pull @ self._factors.features(x))
        return sample

    def _forget(self, trial: Ints) -> None:
        self._play_by_play, self._search = True, None
        self._covariance[trial] = self._prior

    def _restore_trial(self, i: int) -> None:
        self._search = None
        # Least squares: |w|^2 + |sqrt(n / lambda) R_X'w - b / sqrt(n lambda)|^2 is minimal at the mean of w.
        x = self._play_counts.played(i)
        root = np.sqrt(self.count[i, x] / self.noise[i])
        data = np.vstack([self._prior, self._factors.features(x) * root[:, None]])
        value = np.concatenate([np.zeros(len(self._prior)), self.total[i, x] / (root * self.noise[i])])
        reduced: Any = np.linalg.qr(np.hstack([data, value[:, None]]), mode="r")
        triangle, explained = reduced[: len(self._prior), :-1], reduced[: len(self._prior), -1]
        inverse = solve_triangular(triangle, self._prior)
        self._covariance[i] = inverse @ inverse.T
        self.mean[i] = self._factors.expand((inverse @ explained)[None])[0]
        self.variance[i] = self._factors.quadratic(self._covariance[i])
        self.gain[i] = np.log(np.abs(np.diag(triangle))).sum()
