"""The prior covariance of a kernel on a finite set, computed only as far as it is asked for."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
from sklearn.gaussian_process.kernels import Kernel

from bandit_envs.basics.types import Floats, Ints
from bandit_envs.kernels.circulant import Circulant
from bandit_envs.kernels.kronecker import Kronecker
from bandit_envs.kernels.product import parts_of
from bandit_envs.kernels.random_features import feature_count, feature_map
from bandit_envs.kernels.roots import pivoted_root, precedence, quick_white
from bandit_envs.kernels.shared import Shares, shared
from bandit_envs.kernels.sizes import BLOCK_BYTES, MOST_DENSE, blocks, spread, too_many

TOLERANCE = 1e-14  # of the largest prior variance; 1e-12 costs 1e-6 in the mean after many plays at low noise
MAX_LOW_RANK = 512  # beyond, a weight-space step costs more than the other forms, and finding the rank too
LOW_RANK_BYTES = 2**30  # of the root of a low-rank kernel
DENSE_LIMIT = 4096  # points up to which the whole matrix is kept (128 MiB)
QUICK = 4e9  # multiplications of a low-rank root, about 4 s
TRIED = 2000  # points on which the rank of a kernel is tried where there are more than MOST_DENSE
COLUMN_BYTES = 2**28  # of columns that are kept


class Rooted(NamedTuple):
    """R with R'R = K, and the points that its rows were made from, in their order, if they were."""

    rows: Floats  # (r, N)
    pivots: Ints  # (r,) or (0,)


class Gram(Shares):
    """K = k(points, points) of N points, its columns and its factor.

    A low-rank kernel never needs the whole matrix: its factor costs r columns and O(r^2 N). What is `shared`
    is computed once for all that are alive with the same kernel and points.

    Args:
        kernel: a scikit-learn kernel.
        points: features in the kernel's units, (N, d).
    """

    def __init__(self, kernel: Kernel, points: Floats):
        super().__init__(kernel, points)
        self._columns: dict[int, Floats] = {}
        self._others: list[Gram] = []

    @cached_property
    def diagonal(self) -> Floats:
        """Prior variances, (N,)."""
        return np.asarray(self.kernel.diag(self.points), dtype=np.float64)

    @shared
    def dense(self) -> Floats:
        """The whole matrix, (N, N)."""
        if self.size > MOST_DENSE:
            raise too_many(self.size)
        # Called with one argument: scikit-learn's WhiteKernel is zero between two sets.
        return np.asarray(self.kernel(self.points), dtype=np.float64)

    def column(self, point: int) -> Floats:
        """k(., x) of one point, (N,); as many as fit are kept for the next time. Do not write to it."""
        if self.size <= DENSE_LIMIT:
            return self.dense[point]
        if point in self._columns:
            return self._columns[point]
        column = self._compute_column(point)
        if 8 * self.size * len(self._columns) < COLUMN_BYTES:
            self._columns[point] = column
        return column

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

    def combine(self, point: Ints, weight: Floats) -> Floats:
        """K[:, X] @ w of some points, (u,) each -> (N,), without more than a block of that matrix."""
        if not len(point):
            return np.zeros(self.size)
        if self.size <= min(DENSE_LIMIT, MOST_DENSE):
            return weight @ self.dense[point]
        if self.structure is not None:
            return self.structure.combine(point, weight)
        everything = blocks(np.arange(self.size), len(point), BLOCK_BYTES)
        return np.concatenate([self.between(rows, point) @ weight for rows in everything])

    @property
    def low_rank_root(self) -> Floats | None:
        """R with R'R = K up to 1e-14, (r, N), where the rank r is at most N / 3 and 512; else None.

        The root is kept to 1 GiB. Where there are many points, the rank on a few of them is tried first.
        """
        return None if self._low_rank is None else self._low_rank.rows

    @shared
    def _low_rank(self) -> Rooted | None:
        count, features = feature_count(self.kernel), feature_map(self.kernel)
        if count is not None and features is not None:
            low = count <= self._largest_low_rank
            return Rooted(features(self.points).T, np.empty(0, dtype=np.int64)) if low else None
        if self.size > MOST_DENSE and (self.tried_rank or np.inf) > self._largest_low_rank:
            return None
        return self._pivoted_cholesky(self._largest_low_rank)

    @shared
    def tried_rank(self) -> int | None:
        """The rank on some of the points, which that on all is seldom far above; None if it is not low."""
        found = self.some(TRIED).low_rank_root
        return None if found is None else len(found)

    @cached_property
    def has_quick_root(self) -> bool:
        """Whether the root takes seconds at most, or there is a whole matrix: it is used for draws then."""
        rank = self.tried_rank if self.size > MOST_DENSE else 0
        return rank is not None and rank**2 * self.size <= QUICK

    @shared
    def kronecker(self) -> Kronecker:
        """The root by its factors, of a product kernel on a product of sets; else of one factor, the root."""
        grams = [Gram(*part) for part in parts_of(self.kernel, self.points)]
        grams = [self] if len(grams) == 1 else grams
        return Kronecker([gram.root for gram in grams], [gram.most_rows for gram in grams])

    @shared
    def is_product(self) -> bool:
        """Whether there are several factors, all with roots that take seconds at most."""
        parts = parts_of(self.kernel, self.points)
        return len(parts) > 1 and all(Gram(*part).has_quick_root for part in parts)

    @shared
    def structure(self) -> Kronecker | Circulant | None:
        """How functions are drawn where the root is too large or too slow; None where it is used."""
        if self.has_quick_root:
            return None
        return self.kronecker if self.is_product else Circulant.of(self.kernel, self.points)

    def some(self, count: int) -> Gram:
        """The same kernel on some of the points, spread evenly in number, not in order."""
        if self.size <= count:
            return self
        return Gram(self.kernel, self.points[spread(self.size, count)])

    @property
    def root(self) -> Floats:
        """R with R'R = K up to 1e-14, (r, N), of any rank r; z @ R with z ~ N(0, I) is a draw of the GP."""
        return self._rooted.rows

    @shared
    def _rooted(self) -> Rooted:
        if self._low_rank is not None:
            return self._low_rank
        return Rooted(*pivoted_root(self.dense.copy(), TOLERANCE * self.diagonal.max()))

    def white(self, rng: np.random.Generator) -> Floats:
        """Draw the z of a draw z @ root, (r,).

        As many numbers are drawn as there can be, for rounding may move the rank by one, and with it all
        that is drawn later.
        """
        return rng.standard_normal(self.most_rows)[: len(self.root)]

    def quick_white(self, rng: np.random.Generator) -> Floats:
        """The same for agents, which draw in every round, (r,): other numbers, and fewer; see `roots`."""
        if self.low_rank_root is None:
            return self.white(rng)
        return quick_white(rng, len(self.root), self.most_rows)

    @cached_property
    def most_rows(self) -> int:
        """Of the root, (r,)."""
        return self.size if self.low_rank_root is None else self._largest_low_rank

    @property
    def _largest_low_rank(self) -> int:
        return max(min(self.size // 3, MAX_LOW_RANK, LOW_RANK_BYTES // (8 * self.size)), 1)

    @property
    def pivots(self) -> Ints:
        """The r points that `root` was made from: there it is triangular, R[i, pivots[j]] = 0 for j < i."""
        return self._rooted.pivots[: len(self.root)]

    @property
    def eigen_rotation(self) -> tuple[Floats, Floats]:
        """The r positive eigenvalues of K, descending, and Q, (r, r): P = Q @ root has P P' diagonal."""
        values, vectors = self._eigen
        # Turned here and not where they are kept: a pickled copy would sum products in another order.
        return values[::-1], vectors[:, ::-1].T

    @shared
    def _eigen(self) -> tuple[Floats, Floats]:
        values, vectors = np.linalg.eigh(self.root @ self.root.T)
        return values, vectors

    def under(self, kernel: Kernel) -> Gram:
        """Another kernel on the same points; kept for the next time."""
        for other in (self, *self._others):
            if other.kernel is kernel:  # equal kernels have no hash, and comparing their parameters is slow
                return other
        self._others.append(Gram(kernel, self.points))
        return self._others[-1]

    def _pivoted_cholesky(self, max_rank: int) -> Rooted | None:
        residual, first = self.diagonal.copy(), precedence(self.size)
        floor = TOLERANCE * residual.max()
        root, pivots = np.empty((max_rank, self.size)), np.empty(max_rank, dtype=np.int64)
        for r in range(max_rank):
            pivots[r] = pivot = int((residual * first).argmax())
            if residual.max() <= floor:
                return Rooted(root[:r].copy(), pivots[:r])
            row = self._kernel_column(pivot) - root[:r, pivot] @ root[:r]
            root[r] = row / np.sqrt(residual[pivot])
            residual -= root[r] ** 2
            residual[pivot] = 0.0
        return Rooted(root, pivots) if residual.max() <= floor else None

    def _compute_column(self, point: int) -> Floats:
        return self.dense[point] if "dense" in self.__dict__ else self._kernel_column(point)

    def _kernel_column(self, point: int) -> Floats:
        column = np.asarray(self.kernel(self.points[point : point + 1], self.points), dtype=np.float64)[0]
        # A point covaries with itself by its full variance, also under scikit-learn's WhiteKernel.
        column[point] = self.diagonal[point]
        return column
