r"""One trial's posterior covariance as the prior minus rows that grow with the plays.

Sigma = K - V'V, where each play of x adds the row u = Sigma[:, x] / sqrt(s) to V. These rows are
part of a Cholesky factor: with X the points of the rows and L the triangle L[i, j] = V[j, x_i] for
j < i, L[i, i] = sqrt(s_i), values d at all points have the posterior mean V' L^-1 d_X.
"""

from __future__ import annotations

import math

import numpy as np

from bandit_envs.basics.types import Floats
from bandit_envs.kernels.gram import Gram

from .condensed import Condensed, solve_vector

FIRST_CAPACITY = 64  # rows; doubled whenever they are full


class CholeskyRows:
    """V and L of one trial; O(k N) a play, where k counts the rows."""

    def __init__(self, gram: Gram):
        self.gram = gram
        self.used = 0  # k
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
        self.used += 1
        return row, scale

    def explain(self, values: Floats) -> Floats:
        """Return the posterior mean of values at the played points, (N,) -> (N,): V' L^-1 d_X."""
        k = self.used
        innovation = solve_vector(self._triangle[:k], values.take(self._point[:k]))
        return innovation.dot(self._rows[:k])

    def replace(self, condensed: Condensed) -> None:
        """Start again with one row a distinct point."""
        k = len(condensed.point)
        self._reserve(k)
        self._rows[:k], self._triangle[:k, :k] = condensed.factor, condensed.triangle
        self._point[:k] = condensed.point
        self.used = k

    def _reserve(self, rows: int) -> None:
        old = len(self._rows)
        if rows > old:
            more = max(rows, 2 * old) - old
            self._rows = np.pad(self._rows, ((0, more), (0, 0)))
            self._triangle = np.pad(self._triangle, (0, more))
            self._point = np.pad(self._point, (0, more))
