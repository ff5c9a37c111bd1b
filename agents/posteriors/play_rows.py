r"""The memory of plays one by one: a Cholesky factor with a row a play, from which any play can be removed.

With X the plays in the order in which their values were delivered, C their covariances with noise added,
y the values, c(x) the covariances of f(x) with the plays and C = L L', the rows

    [L' | e | V] = L^-1 [C | y | c(.)]

are kept. Removing the j-th play leaves the factor that plane rotations of row j with each later row give:
rotations are orthogonal, so that errors do not grow with the number of plays added and removed.
"""

import math
from typing import Any

import numpy as np
from scipy.linalg import get_blas_funcs, get_lapack_funcs

from bandit_envs.basics.types import Floats, Ints
from bandit_envs.kernels.gram import DENSE_LIMIT, Gram

from ..kernels.visited import VisitedGram
from .base import SufficientStatistics
from .decomposition import FIRST_CAPACITY, solve_rows
from .memory import Memory

(_rot,) = get_blas_funcs(("rot",), dtype=np.float64)
(_trtrs,) = get_lapack_funcs(("trtrs",), dtype=np.float64)

PLAY = np.dtype(
    [
        ("point", np.int64),
        ("value", np.float64),
        ("noise", np.float64),  # variance
        ("weight", np.float64),  # c(x) = weight k(x_i, x)
        ("played", np.int64),  # round
        ("arrived", np.int64),  # round, ascending
    ]
)


class PlayMemory(Memory):
    """Memory of plays with their rows at all N points; O(k (k + N)) to add one, and to remove one.

    A subclass defines the effect of a passing round and of an observation. Above 4096 points, and on boxes,
    V is computed on access instead, O(k^2 A).
    """

    def __init__(self, gram: Gram, noise: float):
        super().__init__(gram, noise)
        self.now, self.used = 0, 0  # the latest round, and k
        growing = isinstance(gram, VisitedGram)  # rows at the present points would lack later ones
        self._width = 0 if growing or gram.size > DENSE_LIMIT else gram.size
        self._matrix = np.zeros((FIRST_CAPACITY, FIRST_CAPACITY + 1 + self._width))  # [L' | e | V]
        self._plays = np.zeros(FIRST_CAPACITY, dtype=PLAY)

    @property
    def plays(self) -> np.ndarray:
        """The records of all plays, (k,) of `PLAY`."""
        return self._plays[: self.used]

    @property
    def innovation(self) -> Floats:
        return self._matrix[: self.used, len(self._plays)]

    @property
    def factor(self) -> "PlayMemory":
        return self

    @property
    def statistics(self) -> SufficientStatistics:
        count = self.noise / self.plays["noise"]
        return SufficientStatistics.merge(self.plays["point"], count, count * self.plays["value"])

    @property
    def gain(self) -> float:
        """1/2 logdet(C) - 1/2 sum log noise."""
        scale = self._matrix[: self.used, : self.used].diagonal()
        return float(np.log(scale).sum() - 0.5 * np.log(self.plays["noise"]).sum())

    @property
    def features(self) -> Floats:
        """Coordinates of the plays, (k, d)."""
        return self.gram.points[self.plays["point"]]

    @property
    def weights(self) -> Floats:
        """a, (k,), with mu(x) = k(x, X) a."""
        return self.back(self.innovation)

    @property
    def smoothed(self) -> Floats:
        """Posterior means at the plays, (k,): y less the share of noise in it."""
        return self.plays["value"] - self.plays["noise"] * self._solve(self.innovation, 1)

    def weight_norm(self, explained: Floats) -> Floats:
        """Return |a_x| of points with v(x) = L^-1 c(x), (k, n) -> (n,); n plays have noise lambda / n."""
        return np.sqrt(self.plays["noise"] / self.noise @ self._solve(explained, 1) ** 2)

    def solve(self, values: Floats) -> Floats:
        """Return L^-1 c from covariances k(X, x) without fading, (k, n) -> (k, n)."""
        return self._solve(self.plays["weight"][:, None] * values)

    def back(self, values: Floats) -> Floats:
        """Return the weights of k(X, x) in v'L^-1 c, (k,) or (k, n)."""
        weight = self.plays["weight"]
        return (weight if values.ndim == 1 else weight[:, None]) * self._solve(values, 1)

    def rows(self, cells: Ints | None) -> Floats:
        if self._width:
            rows = self._rows
            return rows if cells is None else rows[:, cells]
        place = np.arange(self.gram.size) if cells is None else cells
        rows = self.plays["weight"][:, None] * self.gram.between(self.plays["point"], place)
        solve_rows(np.ascontiguousarray(self._matrix[: self.used, : self.used].T), rows)
        return rows

    def among(self, x: int) -> Floats:
        """Return k(x, x_i) of the plays, (k,), as a copy."""
        return self.gram.between(np.array([x]), self.plays["point"])[0]

    def append(
        self, play: tuple[int, float, float, float, int, int], covariance: Floats, growth: float = 1.0
    ) -> None:
        """Add a play of `PLAY` with its covariances, (k,); `growth` is the relative variance of its round."""
        self._reserve()
        k, e = self.used, len(self._plays)
        x, value, noise, weight, *_ = play
        shared = self._solve(covariance)
        scale = math.sqrt(noise + growth * self.gram.diagonal[x] - shared @ shared)
        self._matrix[:k, k], self._matrix[k, k] = shared, scale
        self._matrix[k, e] = (value - shared @ self.innovation) / scale
        if self._width:
            row = self._matrix[k, e + 1 :]
            np.matmul(shared, self._rows, out=row)
            np.subtract(weight * self.gram.column(x), row, out=row)
            row /= scale
        self._plays[k] = play
        self.used += 1

    def drop(self, j: int) -> None:
        """Remove the j-th play as if it had never been observed."""
        k, matrix = self.used, self._matrix
        for i in range(j, k - 1):  # row i is rotated with each later row
            carried, own = matrix[i, i + 1], matrix[i + 1, i + 1]
            radius = math.hypot(carried, own)
            upper, lower = matrix[i, i + 1 :], matrix[i + 1, i + 1 :]
            _rot(upper, lower, carried / radius, own / radius, overwrite_x=1, overwrite_y=1)
        matrix[: k - 1, j : k - 1] = matrix[: k - 1, j + 1 : k]
        self._plays[j : k - 1] = self._plays[j + 1 : k]
        self.used -= 1

    def cut(self, count: int) -> None:
        """Remove the first rows, which have become negligible, with their covariances."""
        k, e = self.used, len(self._plays)
        self._matrix[: k - count, : k - count] = self._matrix[count:k, count:k]
        self._matrix[: k - count, e:] = self._matrix[count:k, e:]
        self._plays[: k - count] = self._plays[count:k]
        self.used -= count

    def fade(self, factor: float) -> None:
        """Multiply the covariances of all points with all plays by a factor."""
        self._plays["weight"][: self.used] *= factor
        if self._width:
            self._rows[:] *= factor

    def correct(self, x: int, change: float) -> None:
        """Change the value of one play of x in its last row, whose mean changes by the play's share."""
        j = int((self.plays["point"] == x).nonzero()[0][-1])
        self._plays["value"][j] += change * float(self.plays["noise"][j]) / self.noise
        self.innovation[:] = self._solve(self.plays["value"])

    def replay(self, other: Any) -> None:
        self.now = other.now
        for x, value, noise, _, played, _ in other.plays.tolist():
            self.observe(x, value, self.now - played, other.noise / noise)

    @property
    def _rows(self) -> Floats:
        return self._matrix[: self.used, len(self._plays) + 1 :]

    def _solve(self, values: Floats, transposed: int = 0) -> Floats:
        """Return L^-1 b, or with 1 L'^-1 b, (k,) or (k, n) of the same shape."""
        if not self.used:  # LAPACK refuses empty matrices
            return np.zeros(values.shape)
        # Fortran sees L' as L. Whole rows of it are passed: a (k, k) part would be copied.
        return _trtrs(self._matrix[: self.used].T, values, lower=1, trans=transposed)[0]

    def _reserve(self) -> None:
        old = len(self._plays)
        if self.used < old:
            return
        self._plays = np.concatenate([self._plays, np.zeros_like(self._plays)])
        matrix = np.zeros((2 * old, 2 * old + 1 + self._width))
        matrix[:old, :old], matrix[:old, 2 * old :] = self._matrix[:, :old], self._matrix[:, old:]
        self._matrix = matrix
