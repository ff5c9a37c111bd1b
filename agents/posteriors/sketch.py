r"""The approximate posterior of one trial, from a dictionary of points (Calandriello et al. 2019).

With D the dictionary, z(x) = (K_DD^+)^(1/2) k_D(x), n the plays, b the sums of values and lambda the noise
variance,

    A = sum_x n_x z(x) z(x)' + lambda I,    mu(x) = z(x)' A^-1 sum_x b_x z(x),
    variance(x) = k(x, x) - z(x)'z(x) + lambda z(x)' A^-1 z(x).

With every played point in D it is the exact posterior, because z(x)'z(y) = k(x, y) where either is in D.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh

from bandit_envs.basics.types import Floats, Ints
from bandit_envs.kernels.gram import Gram

SMALLEST = 1e-12  # smallest eigenvalue of K_DD that counts as nonzero, relative to the largest


class Sketch:
    """Mean and variance of f at all N points from a dictionary of m; O(N m^2) for a new dictionary.

    Args:
        gram: the prior covariance.
        noise: lambda.
    """

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
        self._inverse = _inverse(precision)  # (r, r) A^-1
        self.mean = (self._inverse @ (seen @ total[played])) @ self._root
        prior = self._gram.diagonal - np.sum(self._root**2, axis=0)
        self.variance = np.maximum(prior, 0.0) + self._noise * self._explained(self._root)

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

    def deviation(self, rng: np.random.Generator) -> Floats:
        """Draw f - mean, (N,): the dictionary's part jointly, and each point's rest independently."""
        rest = np.maximum(self._gram.diagonal - np.sum(self._root**2, axis=0), 0.0)
        lower = np.linalg.cholesky(self._noise * self._inverse) if len(self._root) else self._inverse
        weight = lower @ rng.standard_normal(len(self._root))
        return weight @ self._root + np.sqrt(rest) * rng.standard_normal(len(rest))

    def _explained(self, features: Floats) -> Floats:
        """Return z' A^-1 z, (r, n) -> (n,)."""
        return np.sum(features * (self._inverse @ features), axis=0)


def _root(gram: Gram, dictionary: Ints) -> Floats:
    """Return z with z'z = K_ND K_DD^+ K_DN, (r, N), without eigenvalues that are rounding errors."""
    columns = gram.columns(dictionary).reshape(len(dictionary), gram.size)
    if not len(dictionary):
        return columns
    values, vectors = eigh(columns[:, dictionary])
    kept = values > SMALLEST * values[-1]
    return (vectors[:, kept] / np.sqrt(values[kept])).T @ columns


def _inverse(matrix: Floats) -> Floats:
    if not len(matrix):
        return matrix
    return cho_solve(cho_factor(matrix), np.eye(len(matrix)))
