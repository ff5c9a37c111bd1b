"""Approximate posteriors from a dictionary of points, of one trial and of B (Calandriello et al. 2019).

With D the dictionary, z(x) = (K_DD^+)^(1/2) k_D(x), n the plays, b the sums of values and lambda the noise
variance,

    A = sum_x n_x z(x) z(x)' + lambda I,    mu(x) = z(x)' A^-1 sum_x b_x z(x),
    variance(x) = k(x, x) - z(x)'z(x) + lambda z(x)' A^-1 z(x).

With every played point in D it is the exact posterior, because z(x)'z(y) = k(x, y) where either is in D.
"""

from collections.abc import Sequence

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh

from bandit_envs.basics.types import Floats, Ints
from bandit_envs.kernels.gram import Gram

from .base import Posterior, SufficientStatistics, columns_at

SMALLEST = 1e-12  # smallest eigenvalue of K_DD that counts as nonzero, relative to the largest


class Sketch:
    """Mean and variance of f at all N points from a dictionary of m; O(N m^2) for a new dictionary."""

    def __init__(self, gram: Gram, noise: float):
        self._gram, self._noise = gram, noise
        self.learn(np.empty(0, dtype=np.int64), np.zeros(gram.size), np.zeros(gram.size))

    def learn(self, dictionary: Ints, count: Floats, total: Floats) -> None:
        """Replace the dictionary, (m,), and condition on plays and sums of values, (N,) each."""
        self.dictionary = dictionary
        self._root = _root(self._gram, dictionary)  # (r, N) z
        played = count.nonzero()[0]
        seen = self._root[:, played]
        precision = (seen * count[played]) @ seen.T
        precision[np.diag_indices_from(precision)] += self._noise
        self._inverse = precision  # (r, r) A^-1
        if len(precision):  # LAPACK refuses empty matrices
            self._inverse = cho_solve(cho_factor(precision), np.eye(len(precision)))
        self.mean = (self._inverse @ (seen @ total[played])) @ self._root
        prior = self._gram.diagonal - np.sum(self._root**2, axis=0)
        explained = np.sum(self._root * (self._inverse @ self._root), axis=0)  # z' A^-1 z, (N,)
        self.variance = np.maximum(prior, 0.0) + self._noise * explained

    def hallucinate(self, point: int) -> None:
        """Count a play without a value: variances shrink, means stay; O(m N)."""
        feature = self._root[:, point]
        weight = self._inverse @ feature
        weight /= np.sqrt(1.0 + feature @ weight)
        self._inverse -= np.outer(weight, weight)
        self.variance -= self._noise * (weight @ self._root) ** 2

    def weight_norm(self, count: Floats) -> Floats:
        """Return |a_x| of the mean a_x'y, sqrt(z' A^-1 (sum n z z') A^-1 z), from the plays (N,) -> (N,)."""
        played = count.nonzero()[0]
        pull = self._root[:, played].T @ (self._inverse @ self._root)
        return np.sqrt(count[played] @ pull**2)

    def centred_sample(self, rng: np.random.Generator) -> Floats:
        """Draw f - mean, (N,): the dictionary's part jointly, and each point's rest independently."""
        rest = np.maximum(self._gram.diagonal - np.sum(self._root**2, axis=0), 0.0)
        lower = np.linalg.cholesky(self._noise * self._inverse) if len(self._root) else self._inverse
        weight = lower @ rng.standard_normal(len(self._root))
        return weight @ self._root + np.sqrt(rest) * rng.standard_normal(len(rest))

    def covariance(self, point: Ints, other: Ints) -> Floats:
        """Return the covariance of two sets of points, (a,) and (b,) -> (a, b)."""
        left, right = self._root[:, point].T, self._root[:, other]
        rest = self._gram.between(point, other) - left @ right
        return rest + self._noise * left @ self._inverse @ right


def _root(gram: Gram, dictionary: Ints) -> Floats:
    """Return z with z'z = K_ND K_DD^+ K_DN, (r, N), without eigenvalues that are rounding errors."""
    columns = gram.columns(dictionary).reshape(len(dictionary), gram.size)
    if not len(dictionary):
        return columns
    values, vectors = eigh(columns[:, dictionary])
    kept = values > SMALLEST * values[-1]
    return (vectors[:, kept] / np.sqrt(values[kept])).T @ columns


class SketchedPosterior(Posterior):
    """Posterior that learns observations with a trial's next dictionary, see `Sketch`; O(N m^2).

    Where a trial's statistics are given, every played point is in its dictionary: it is exact.
    """

    def __init__(self, gram: Gram, noise: float | Floats, num_trials: int):
        super().__init__(gram, noise, num_trials)
        self.count, self.total = np.zeros((num_trials, gram.size)), np.zeros((num_trials, gram.size))
        self._gain = np.zeros(num_trials)
        self.sketches = [Sketch(gram, float(noise)) for noise in self.noise]

    @property
    def gain(self) -> Floats:
        """1/2 sum of log(1 + variance / lambda) before each counted play, (B,)."""
        return self._gain

    @property
    def effective_dimension(self) -> Floats:
        """Sum over the plays of variance / lambda, (B,), an estimate of tr K (K + lambda I)^-1."""
        return np.sum(self.count * self._all("variance"), axis=1) / self.noise

    def play(self, point: Ints) -> None:
        """Count a play of every trial, (B,); variances do not depend on its value."""
        for i, x in enumerate(point.tolist()):
            sketch = self.sketches[i]
            self._gain[i] += 0.5 * np.log1p(max(sketch.variance.item(x), 0.0) / self.noise.item(i))
            sketch.hallucinate(x)

    def renew(self, trial: int, chance: Floats, rng: np.random.Generator) -> None:
        """Replace the dictionary of a trial, and condition on the values so far.

        Each played point enters independently with its `chance`, (N,), by one number drawn for each.
        """
        count = self.count[trial]
        played = count.nonzero()[0]
        entering = played[rng.random(len(played)) < chance[played]]
        self.sketches[trial].learn(entering, count, self.total[trial])

    def observe(self, trial: Ints, point: Ints, value: Floats) -> None:
        self.count[trial, point] += 1.0
        self.total[trial, point] += value

    def correct(self, trial: Ints, point: Ints, change: Floats) -> None:
        np.add.at(self.total, (trial, point), change)
        for i in np.unique(trial).tolist():
            self._learn(i, self.sketches[i].dictionary)

    def mean_at(self, cells: Ints | None) -> Floats:
        return columns_at(self._all("mean"), cells)

    def variance_at(self, cells: Ints | None) -> Floats:
        return columns_at(self._all("variance"), cells)

    def count_at(self, cells: Ints | None) -> Floats:
        return columns_at(self.count, cells)

    def weight_norm_at(self, cells: Ints | None) -> Floats:
        norms = map(Sketch.weight_norm, self.sketches, self.count)
        return columns_at(np.stack(list(norms)), cells)

    def centred_sample_at(self, cells: Ints | None, rngs: Sequence[np.random.Generator]) -> Floats:
        return columns_at(np.stack(list(map(Sketch.centred_sample, self.sketches, rngs))), cells)

    def covariance(self, trial: int, point: Ints, other: Ints) -> Floats:
        return self.sketches[trial].covariance(point, other)

    def reset(self, trial: Ints) -> None:
        self.count[trial] = self.total[trial] = 0.0
        self._gain[trial] = 0.0
        for i in trial.tolist():
            self._learn(i, np.empty(0, dtype=np.int64))

    def statistics(self, trial: int) -> SufficientStatistics:
        return SufficientStatistics.of(self.count[trial], self.total[trial])

    def condition_on(self, trial: int, seen: SufficientStatistics) -> None:
        self.count[trial] = self.total[trial] = 0.0
        self.count[trial, seen.point], self.total[trial, seen.point] = seen.plays, seen.total
        self._learn(trial, seen.point)

    def _learn(self, trial: int, dictionary: Ints) -> None:
        self.sketches[trial].learn(dictionary, self.count[trial], self.total[trial])

    def _all(self, name: str) -> Floats:
        return np.stack([getattr(sketch, name) for sketch in self.sketches])
