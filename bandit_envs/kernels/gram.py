"""The prior covariance of a kernel on a finite set, computed only as far as it is asked for."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.linalg.lapack import dpstrf  # type: ignore[attr-defined]
from sklearn.gaussian_process.kernels import ConstantKernel, Kernel, Product

from bandit_envs.basics.types import Floats, Ints

TOLERANCE = 1e-14  # of the largest prior variance; 1e-12 costs 1e-6 in the mean after many plays at low noise
MAX_LOW_RANK = 512  # beyond, a weight-space step costs more than the other forms, and finding the rank too
DENSE_LIMIT = 4096  # points up to which the whole matrix is kept (128 MiB)


class Gram:
    """K = k(points, points) of N points, its columns and its factor.

    A low-rank kernel never needs the whole matrix: its factor costs r columns and O(r^2 N).

    Args:
        kernel: a scikit-learn kernel.
        points: features in the kernel's units, (N, d).
    """

    def __init__(self, kernel: Kernel, points: Floats):
        self.kernel = kernel
        self.points = np.ascontiguousarray(points, dtype=np.float64)
        self.size = len(self.points)
        self._columns: dict[int, Floats] = {}
        self._others: list[Gram] = []
        self._pivots = np.empty(0, dtype=np.int64)
        # Of s^2 k the root is made from that of k: where pivots tie, rounding would choose others at each s,
        # and the same seed would draw other functions.
        self._scale, self._unscaled = 1.0, None
        if isinstance(kernel, Product) and isinstance(kernel.k1, ConstantKernel):
            self._scale = float(np.sqrt(kernel.k1.constant_value))
            self._unscaled = Gram(kernel.k2, self.points)

    @cached_property
    def diagonal(self) -> Floats:
        """Prior variances, (N,)."""
        return np.asarray(self.kernel.diag(self.points), dtype=np.float64)

    @cached_property
    def dense(self) -> Floats:
        """The whole matrix, (N, N)."""
        # Called with one argument: scikit-learn's WhiteKernel is zero between two sets.
        return np.asarray(self.kernel(self.points), dtype=np.float64)

    def column(self, point: int) -> Floats:
        """k(., x) of one point, (N,); kept for the next time. Do not write to it."""
        if self.size <= DENSE_LIMIT:
            return self.dense[point]
        if point not in self._columns:
            self._columns[point] = self._compute_column(point)
        return self._columns[point]

    def columns(self, point: Ints) -> Floats:
        """k(x_i, .) of several points, (n,) -> (n, N); a copy."""
        if self.size <= DENSE_LIMIT:
            return self.dense[point]
        return np.array([self.column(int(x)) for x in point]).reshape(-1, self.size)

    def between(self, rows: Ints, columns: Ints) -> Floats:
        """k(x_i, x_j) of some points with others, (n,) and (m,) -> (n, m); a copy."""
        if "dense" in self.__dict__:
            return self.dense[np.ix_(rows, columns)]
        block = np.array(self.kernel(self.points[rows], self.points[columns]), dtype=np.float64)
        # A point covaries with itself by its full variance, also under scikit-learn's WhiteKernel.
        same = rows[:, None] == columns
        block[same] = np.broadcast_to(self.diagonal[columns], same.shape)[same]
        return block

    @cached_property
    def low_rank_root(self) -> Floats | None:
        """R with R'R = K up to 1e-14, (r, N), where the rank r is at most N / 3 and 512; else None."""
        if self._unscaled is not None:
            root = self._unscaled.low_rank_root
            return None if root is None else self._scale * root
        return self._pivoted_cholesky(max(min(self.size // 3, MAX_LOW_RANK), 1))

    @cached_property
    def root(self) -> Floats:
        """R with R'R = K up to 1e-14, (r, N), of any rank r; z @ R with z ~ N(0, I) is a draw of the GP."""
        if self._unscaled is not None:
            return self._scale * self._unscaled.root
        if self.low_rank_root is not None:
            return self.low_rank_root
        factor, pivot, rank, _ = dpstrf(self.dense, tol=TOLERANCE * self.diagonal.max())
        root = np.empty((rank, self.size))
        root[:, pivot - 1] = np.triu(factor)[:rank]
        self._pivots = pivot[:rank] - 1
        return root

    @property
    def pivots(self) -> Ints:
        """The r points that `root` was made from: there it is triangular, R[i, pivots[j]] = 0 for j < i."""
        return self._pivots[: len(self.root)] if self._unscaled is None else self._unscaled.pivots

    @cached_property
    def eigen_root(self) -> tuple[Floats, Floats]:
        """The r positive eigenvalues of K in descending order, and P with P'P = K, P P' diagonal, (r, N)."""
        values, vectors = np.linalg.eigh(self.root @ self.root.T)
        return values[::-1], vectors[:, ::-1].T @ self.root

    def under(self, kernel: Kernel) -> Gram:
        """Another kernel on the same points; kept for the next time."""
        for other in (self, *self._others):
            if other.kernel is kernel:  # equal kernels have no hash, and comparing their parameters is slow
                return other
        self._others.append(Gram(kernel, self.points))
        return self._others[-1]

    def _pivoted_cholesky(self, max_rank: int) -> Floats | None:
        residual = self.diagonal.copy()
        floor = TOLERANCE * residual.max()
        root = np.empty((max_rank, self.size))
        self._pivots = np.empty(max_rank, dtype=np.int64)
        for r in range(max_rank):
            self._pivots[r] = pivot = int(residual.argmax())
            if residual[pivot] <= floor:
                return root[:r].copy()
            row = self._compute_column(pivot) - root[:r, pivot] @ root[:r]
            root[r] = row / np.sqrt(residual[pivot])
            residual -= root[r] ** 2
            residual[pivot] = 0.0
        return root if residual.max() <= floor else None

    def _compute_column(self, point: int) -> Floats:
        if "dense" in self.__dict__:
            return self.dense[point]
        column = np.asarray(self.kernel(self.points[point : point + 1], self.points), dtype=np.float64)[0]
        # A point covaries with itself by its full variance, also under scikit-learn's WhiteKernel.
        column[point] = self.diagonal[point]
        return column
