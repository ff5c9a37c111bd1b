"""Coordinates of plays in which their prior covariance is a scalar product."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.linalg import get_lapack_funcs

from bandit_envs.basics.types import Floats, Ints

(_trtrs,) = get_lapack_funcs(("trtrs",), dtype=np.float64)

NEGLIGIBLE = 1e-9  # share of a prior variance below which a point adds no dimension
FIRST_CAPACITY = 16  # dimensions; doubled whenever they are full


class Coordinates:
    """phi(x) with phi(x)'phi(x') = k(x, x') + c, of one new dimension per linearly independent point.

    They are the rows of a pivoted Cholesky factor in the order of play: O(k^2) a new point. k is at most the
    number of distinct points and the numerical rank of the kernel.

    Args:
        between: covariances of points, (n,) and (m,) -> (n, m).
        constant: c, the prior variance of an unknown level.
    """

    def __init__(self, between: Callable[[Ints, Ints], Floats], constant: float = 0.0):
        self._between, self._constant = between, constant
        self._pivots: list[int] = []
        self._known: dict[int, Floats] = {}
        self._factor = np.zeros((FIRST_CAPACITY, FIRST_CAPACITY))

    @property
    def dimensions(self) -> int:
        """The number of dimensions k so far."""
        return len(self._pivots)

    def of(self, point: int) -> Floats:
        """Return phi of a point, (j,) with j <= k; the missing entries are 0."""
        if point not in self._known:
            self._known[point] = self._found(point)
        return self._known[point]

    def _found(self, point: int) -> Floats:
        place, k = np.array([point]), self.dimensions
        variance = self._between(place, place).item() + self._constant
        phi = np.zeros(0)
        if k:  # LAPACK refuses empty matrices
            cross = self._between(place, np.array(self._pivots))[0] + self._constant
            phi = _trtrs(self._factor[:k].T, np.append(cross, np.zeros(0)), lower=0, trans=1)[0]
        rest = variance - phi @ phi
        if rest <= NEGLIGIBLE * variance:
            return phi
        self._reserve()
        self._factor[k, :k], self._factor[k, k] = phi, math.sqrt(rest)
        self._pivots.append(point)
        return self._factor[k, : k + 1].copy()

    def _reserve(self) -> None:
        old = len(self._factor)
        if self.dimensions == old:
            self._factor = np.pad(self._factor, (0, old))
