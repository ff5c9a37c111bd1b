"""The factor of plays that posteriors share, and triangular systems.

n plays of one point are equivalent to one observation of their mean with noise lambda / n. So with X
the u distinct points played, L L' = K_XX + diag(lambda / n) and V = L^-1 K_X,

    Sigma = K - V'V,    mu = V' L^-1 (b / n)_X,    gain = sum log diag(L) + 1/2 sum log(n / lambda).
"""

from __future__ import annotations

import math
from weakref import WeakKeyDictionary, ref

import numpy as np
from scipy.linalg import get_blas_funcs, get_lapack_funcs
from scipy.linalg.lapack import dpotrf, dtrtri  # type: ignore[attr-defined]

from bandit_envs.basics.types import Floats, Ints
from bandit_envs.kernels.gram import Gram

from ..kernels.visited import VisitedGram

(_trsm,) = get_blas_funcs(("trsm",), dtype=np.float64)
(_trtrs,) = get_lapack_funcs(("trtrs",), dtype=np.float64)
_latest: WeakKeyDictionary[Gram | VisitedGram, tuple[bytes, ref[Triangle]]] = WeakKeyDictionary()

FIRST_CAPACITY = 64  # rows
GROWTH = 8  # an eighth more whenever they are full: L takes their square
BLOCK = 128  # rows of L that have an inverse of their own on a box


def solve_rows(triangle: Floats, rows: Floats) -> None:
    """Replace rows (u, N) by L^-1 rows, in place."""
    if len(rows):  # BLAS refuses empty matrices
        # Fortran sees the rows as their transpose: rows' <- rows' L^-T.
        _trsm(1.0, triangle.T, rows.T, side=1, lower=0, overwrite_b=1)


def solve_vector(triangle: Floats, vector: Floats) -> Floats:
    """Return L^-1 v, (u, u) and (u,) -> (u,); whole rows of a larger array are not copied, parts are."""
    return _trtrs(triangle.T, vector, lower=0, trans=1)[0] if len(vector) else vector


def spare_capacity(rows: int) -> int:
    """Return a capacity with some spare rows."""
    return max(FIRST_CAPACITY, rows + rows // GROWTH)


class Triangle:
    """L of plays in their order, row after row; factors of the same first plays may have one in common.

    A factor whose next play is not that of the next row goes on with a copy of the rows before it. So while
    all plays have results, those and all experiments take the memory and time of one.
    """

    def __init__(self, gram: Gram | VisitedGram, point: Ints, noise: Floats):
        self.gram, self.size = gram, len(point)
        capacity = spare_capacity(self.size)
        self.values = np.empty((capacity, capacity))  # above the diagonal it is never read
        self._point, self._noise = np.empty(capacity, dtype=np.int64), np.empty(capacity)
        self._point[: self.size], self._noise[: self.size] = point, noise
        self._inverse: dict[int, Floats] = {}  # of diagonal blocks, by their first row

    @classmethod
    def of(cls, gram: Gram | VisitedGram, point: Ints, noise: Floats) -> Triangle:
        """Return the lower factor of k(X, X) + diag(noise), (u,) each, or as long as it is in use the latest.

        Only points of a box belong to one agent: factors on other sets get a copy, as threads may share sets.
        """
        size, key = len(point), point.tobytes() + noise.tobytes()
        known, alive = _latest.get(gram, (b"", lambda: None))
        before = alive() if known == key else None
        if before is not None:
            return before if isinstance(gram, VisitedGram) else before._copy(size)
        triangle, covariance = cls(gram, point, noise), gram.between(point, point)
        covariance[np.diag_indices(size)] += noise
        # In place, because fresh memory is slow; Fortran sees the transpose. Above its diagonal is anything.
        upper, failed = dpotrf(covariance.T, lower=0, clean=0, overwrite_a=1)
        if failed:
            raise np.linalg.LinAlgError("the covariance of the plays is not positive definite")
        triangle.values[:size, :size] = upper.T
        _latest[gram] = key, ref(triangle)
        return triangle

    def _copy(self, size: int) -> Triangle:
        copied = Triangle(self.gram, self._point[:size], self._noise[:size])
        copied.values[:size, :size] = self.values[:size, :size]
        return copied

    def going_on(self, k: int, x: int, noise: float) -> Triangle:
        """Return the triangle whose first k rows are these, and whose next row is a play of x."""
        if k < self.size:
            same = self._point[k] == x and self._noise[k] == noise
            return self if same else self._copy(k).going_on(k, x, noise)
        if k == len(self.values):
            more = (0, spare_capacity(k) - k)
            self.values = np.pad(self.values, more)
            self._point, self._noise = np.pad(self._point, more), np.pad(self._noise, more)
        shared = self.solve(self.gram.between(np.array([x]), self._point[:k])[0], k, 1)
        scale = math.sqrt(noise + self.gram.diagonal[x] - shared @ shared)
        self.values[k, :k], self.values[k, k] = shared, scale
        self._point[k], self._noise[k], self.size = x, noise, k + 1
        return self

    def solve(self, values: Floats, rows: int, transposed: int) -> Floats:
        """Return L^-1 b, or L'^-1 b unless `transposed`, of the first k rows, (k,) or (k, n) alike."""
        if not rows:  # LAPACK refuses empty matrices
            return np.zeros(values.shape)
        if values.ndim == 2 and isinstance(self.gram, VisitedGram):
            return self._by_blocks(values.T, rows, transposed).T
        # Fortran sees L as its transpose. Whole rows of it are passed: a (k, k) part would be copied.
        return _trtrs(self.values[:rows].T, values, lower=0, trans=transposed)[0]

    def _by_blocks(self, b: Floats, rows: int, transposed: int) -> Floats:
        """Return b L'^-1 or b L^-1, (n, k), by products: for few b they take half the time of LAPACK."""
        found, blocks = np.empty(b.shape), range(0, rows, BLOCK)
        for i in blocks if transposed else reversed(blocks):
            j = min(i + BLOCK, rows)
            inverse, rest = self._inverse_at(i, j), b[:, i:j]
            if transposed and i:
                rest = rest - found[:, :i] @ self.values[i:j, :i].T
            elif not transposed and j < rows:
                rest = rest - found[:, j:] @ self.values[j:rows, i:j]
            np.matmul(rest, inverse.T if transposed else inverse, out=found[:, i:j])
        return found

    def _inverse_at(self, i: int, j: int) -> Floats:
        """Return the inverse of a diagonal block, (j - i, j - i), to the bit whatever was asked before."""
        known = self._inverse.get(i)
        if known is None or len(known) != j - i:  # rows do not change any more, but are added
            upper, _ = dtrtri(self.values[i:j, i:j].T, lower=0)
            known = self._inverse[i] = np.tril(upper.T)
        return known
