"""The posterior of a Gaussian process whose observations are sums over points."""

from __future__ import annotations

import numpy as np

from bandit_envs.basics.types import Floats, Ints

from ..model.model import Model

FIRST = 64  # initial number of columns; doubled whenever they are full


class Functionals:
    r"""Posterior of f on N points of one trial, given values h'f + e of linear functionals, exact.

    With v = Var e and u = Sigma h / sqrt(h'Sigma h + v): mu <- mu + u (s - h'mu) / sqrt(h'Sigma h + v) and
    Sigma <- Sigma - u u'. Sigma = K - U U' is kept as its columns u_1, ..., u_n: O(N n) time and memory per
    value, whatever h, until there are N columns; then as a matrix, O(N^2).

    Args:
        model: kernel and prior mean.
    """

    def __init__(self, model: Model):
        self._gram = gram = model.gram
        self.mean = np.array(np.broadcast_to(np.asarray(model.prior_mean, dtype=np.float64), gram.size))
        self.variance = gram.diagonal.copy()  # (N,)
        self.gain = 0.0  # of information, 1/2 sum log(1 + h'Sigma h / v)
        self._columns = np.empty((min(FIRST, gram.size), gram.size))  # U', of which n rows are used
        self._count = 0
        self._whole: Floats | None = None  # Sigma, (N, N), once it is the smaller one

    @property
    def covariance(self) -> Floats:
        """Sigma, (N, N), as a copy."""
        return self._dense() if self._whole is None else self._whole.copy()

    @property
    def std(self) -> Floats:
        """Posterior stds, (N,)."""
        return np.sqrt(np.maximum(self.variance, 0.0))

    @property
    def square(self) -> Floats:
        """E f^2, (N,)."""
        return self.mean**2 + np.maximum(self.variance, 0.0)

    def observe(self, point: Ints, weight: Floats, value: float, variance: float) -> None:
        """Condition on sum_i weight_i f(point_i) + e, (n,) each, e of a given variance; points may repeat."""
        point, place = np.unique(point, return_inverse=True)
        weight = np.asarray(np.bincount(place, weight), dtype=np.float64)
        pull = self._combined(point, weight)
        spread = float(weight @ pull[point])
        self.gain += 0.5 * float(np.log1p(spread / variance))
        self.mean += pull * ((value - float(weight @ self.mean[point])) / (spread + variance))
        self._reduce(pull / np.sqrt(spread + variance))

    def _combined(self, point: Ints, weight: Floats) -> Floats:
        """Sigma h, (N,)."""
        if self._whole is not None:
            return weight @ self._whole[point]
        known = self._columns[: self._count]
        return self._gram.combine(point, weight) - (known[:, point] @ weight) @ known

    def _reduce(self, column: Floats) -> None:
        self.variance -= column**2
        if self._whole is not None:
            self._whole -= np.multiply.outer(column, column)
            return
        if self._count == len(self._columns):
            self._columns = np.concatenate([self._columns, np.empty_like(self._columns)])
        self._columns[self._count] = column
        self._count += 1
        if self._count >= self._gram.size:
            self._whole, self._columns = self._dense(), self._columns[:0]

    def _dense(self) -> Floats:
        known = self._columns[: self._count]
        return self._gram.dense - known.T @ known
