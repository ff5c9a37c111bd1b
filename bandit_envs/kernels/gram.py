"""Compute the prior covariance of a kernel on a finite set, only the parts that are used."""

import pickle
import warnings
from collections.abc import Callable
from functools import cached_property, partial
from hashlib import sha256
from typing import Any, NamedTuple, TypeVar
from weakref import WeakValueDictionary

import numpy as np
from sklearn.gaussian_process.kernels import Kernel

from bandit_envs.basics.types import Floats, Ints
from bandit_envs.kernels import definite
from bandit_envs.kernels.circulant import Circulant
from bandit_envs.kernels.kronecker import Kronecker, parts_of
from bandit_envs.kernels.random_features import feature_count, feature_map

T = TypeVar("T")
FEWEST = 512  # points from which sharing pays: for fewer, a key costs as much as the computation


class SharedParts(dict[str, Any]):
    """Hold the results of one kernel on some points, by name."""


alive: WeakValueDictionary[tuple[bytes, bytes], SharedParts] = WeakValueDictionary()


class shared(cached_property[T]):
    """Compute a property once, in this object or another with the same kernel and points.

    The result must depend on these alone, not on earlier calls. Do not write to it.
    """

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        parts = None if instance is None else instance.known()
        if parts is None:
            return super().__get__(instance, owner)
        name = str(self.attrname)
        if name not in parts:
            parts[name] = self.func(instance)
        instance.__dict__[name] = found = parts[name]  # found there before this descriptor
        return found


TOLERANCE = 1e-14  # of the largest prior variance; 1e-12 costs 1e-6 in the mean after many plays at low noise
MAX_LOW_RANK = 512  # beyond, a weight-space step costs more than the other forms; so does finding the rank
LOW_RANK_BYTES = 2**30  # of the root of a low-rank kernel
DENSE_LIMIT = 4096  # points up to which the whole matrix is stored (128 MiB)
QUICK = 4e9  # multiplications of a low-rank root, about 4 s
TRIED = 2000  # points on which a kernel's rank is tested if there are more than SLOW
COLUMN_BYTES = 2**28  # of stored columns


class Rooted(NamedTuple):
    """Hold R with R'R = K, and the pivots of its rows in order, if it is a pivoted factor."""

    rows: Floats  # (r, N)
    pivots: Ints  # (r,) or (0,)


class Gram:
    """Hold K = k(points, points) of N points, (N, d) in the kernel's units, its columns and its factor.

    A low-rank kernel never needs the whole matrix: its factor costs r columns and O(r^2 N). `shared`
    properties are computed once for all live objects with the same kernel and points; a copy starts without.
    """

    def __init__(self, kernel: Kernel, points: Floats):
        self.kernel = kernel
        self.points = np.ascontiguousarray(points, dtype=np.float64)
        self.size = len(self.points)
        self.parts: SharedParts | None = None  # a reference, so that they stay alive
        self._columns: dict[int, Floats] = {}
        self._others: list[Gram] = []

    @cached_property
    def _digest(self) -> bytes:
        return sha256(repr(self.points.shape).encode() + self.points.tobytes()).digest()

    def known(self) -> SharedParts | None:
        """Return the shared results of the kernel as it is now; None where it cannot be identified."""
        if self.size < FEWEST:
            return None
        try:
            key = pickle.dumps(self.kernel), self._digest
        except (pickle.PicklingError, AttributeError, TypeError):  # classes and functions without a name
            return None
        self.parts = alive.setdefault(key, SharedParts())
        return self.parts

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without shared results."""
        return {**self.__dict__, "parts": None}

    @cached_property
    def diagonal(self) -> Floats:
        """Return the prior variances, (N,)."""
        return np.asarray(self.kernel.diag(self.points), dtype=np.float64)

    @cached_property
    def largest_std(self) -> float:
        """Return the largest prior std."""
        return float(np.sqrt(self.diagonal.max()))

    @shared
    def dense(self) -> Floats:
        """Return the whole matrix, (N, N)."""
        if self.size > definite.MOST_DENSE:
            raise definite.too_many(self.size)
        # Called with one argument: scikit-learn's WhiteKernel is zero between two sets.
        return np.asarray(self.kernel(self.points), dtype=np.float64)

    def column(self, point: int) -> Floats:
        """Return k(., x) of one point, (N,), stored while memory allows; do not write to it."""
        if self.size <= DENSE_LIMIT:
            return self.dense[point]
        if point in self._columns:
            return self._columns[point]
        column = self.dense[point] if "dense" in self.__dict__ else self._kernel_column(point)
        if 8 * self.size * len(self._columns) < COLUMN_BYTES:
            self._columns[point] = column
        return column

    def columns(self, point: Ints) -> Floats:
        """Return k(x_i, .) of several points, (n,) -> (n, N); a copy."""
        if self.size <= DENSE_LIMIT:
            return self.dense[point]
        return np.array([self.column(int(x)) for x in point]).reshape(-1, self.size)

    def between(self, rows: Ints, columns: Ints) -> Floats:
        """Return k(x_i, x_j) of two sets of points, (n,) and (m,) -> (n, m); a copy."""
        if "dense" in self.__dict__:
            return self.dense[np.ix_(rows, columns)]
        block = np.array(self.kernel(self.points[rows], self.points[columns]), dtype=np.float64)
        # A point covaries with itself by its full variance, also under scikit-learn's WhiteKernel.
        same = rows[:, None] == columns
        block[same] = np.broadcast_to(self.diagonal[columns], same.shape)[same]
        return block

    def combine(self, point: Ints, weight: Floats) -> Floats:
        """Return K[:, X] @ w of some points, (u,) each -> (N,), with at most a block of K in memory."""
        if not len(point):
            return np.zeros(self.size)
        if self.size <= min(DENSE_LIMIT, definite.MOST_DENSE):
            return weight @ self.dense[point]
        if self.structure is not None:
            return self.structure.combine(point, weight)
        everything = definite.blocks(np.arange(self.size), len(point), definite.BLOCK_BYTES)
        return np.concatenate([self.between(rows, point) @ weight for rows in everything])

    @property
    def low_rank_root(self) -> Floats | None:
        """Return R with R'R = K up to 1e-14, (r, N), if the rank r is at most N / 3 and 512; else None.

        The root takes at most 1 GiB. Where there are many points, the rank is tested on a few of them first.
        """
        return None if self._low_rank is None else self._low_rank.rows

    @shared
    def _low_rank(self) -> Rooted | None:
        count, features = feature_count(self.kernel), feature_map(self.kernel)
        if count is not None and features is not None:
            low = count <= self._largest_low_rank
            return Rooted(features(self.points).T, np.empty(0, dtype=np.int64)) if low else None
        if self.size > definite.SLOW and (self.tried_rank or np.inf) > self._largest_low_rank:
            return None
        return self.pivoted_cholesky(self._largest_low_rank)

    @shared
    def tried_rank(self) -> int | None:
        """Return the rank on some points, seldom far below the rank on all; None if it is not low."""
        found = self.some(TRIED).low_rank_root
        return None if found is None else len(found)

    @cached_property
    def has_quick_root(self) -> bool:
        """Return whether the root takes seconds at most; draws then use it."""
        rank = self.tried_rank if self.size > definite.SLOW else 0
        return rank is not None and rank**2 * self.size <= QUICK

    @shared
    def kronecker(self) -> Kronecker:
        """Return the root by factors for a product kernel on a product of sets; else one factor, the root."""
        grams = [Gram(*part) for part in parts_of(self.kernel, self.points)]
        grams = [self] if len(grams) == 1 else grams
        return Kronecker([gram.root for gram in grams], [gram.most_rows for gram in grams])

    @shared
    def is_product(self) -> bool:
        """Return whether there are several factors, each with a root that takes seconds at most."""
        parts = parts_of(self.kernel, self.points)
        return len(parts) > 1 and all(Gram(*part).has_quick_root for part in parts)

    @shared
    def structure(self) -> Kronecker | Circulant | None:
        """Return the structure for draws where the root is too large or too slow; None where it is used."""
        if self.has_quick_root:
            return None
        return self.kronecker if self.is_product else Circulant.of(self.kernel, self.points)

    def some(self, count: int) -> "Gram":
        """Return the matrix of the same kernel on a fixed random subset of at most `count` points."""
        if self.size <= count:
            return self
        return Gram(self.kernel, self.points[definite.spread(self.size, count)])

    @property
    def root(self) -> Floats:
        """Return R with R'R = K up to 1e-14, (r, N), of any rank; z @ R, z ~ N(0, I), is a draw of the GP."""
        return self._rooted.rows

    @shared
    def _rooted(self) -> Rooted:
        if self._low_rank is not None:
            return self._low_rank
        whole = self.dense.copy()
        if self.size > definite.SLOW:
            warnings.warn(definite.slow_root(self.size), stacklevel=2)
        return Rooted(*definite.pivoted_root(whole, TOLERANCE * self.diagonal.max()))

    def white(self, rng: np.random.Generator) -> Floats:
        """Draw z of a draw z @ root, (r,), from a fixed number of normals: rounding may change r by one."""
        return definite.white(len(self.root), self.most_rows, rng)

    @cached_property
    def quick_white(self) -> Callable[[np.random.Generator], Floats]:
        """Draw z for agents, which need one each round, (r,), from another, shorter stream: `definite`."""
        draw = definite.white if self.low_rank_root is None else definite.quick_white
        return partial(draw, len(self.root), self.most_rows)

    @cached_property
    def most_rows(self) -> int:
        """Return the largest number of rows that the root may have."""
        return self.size if self.low_rank_root is None else self._largest_low_rank

    @property
    def _largest_low_rank(self) -> int:
        return max(min(self.size // 3, MAX_LOW_RANK, LOW_RANK_BYTES // (8 * self.size)), 1)

    @property
    def pivots(self) -> Ints:
        """Return the r points that `root` is made from: R[i, pivots[j]] = 0 for j < i."""
        return self._rooted.pivots[: len(self.root)]

    @property
    def eigen_rotation(self) -> tuple[Floats, Floats]:
        """Return the positive eigenvalues of K, descending, and Q, (r, r): PP' is diagonal, P = Q @ root."""
        values, vectors = self._eigen
        # Reversed here and not in `_eigen`: a pickled copy would sum products in another order.
        return values[::-1], vectors[:, ::-1].T

    @shared
    def _eigen(self) -> tuple[Floats, Floats]:
        values, vectors = np.linalg.eigh(self.root @ self.root.T)
        return values, vectors

    def under(self, kernel: Kernel) -> "Gram":
        """Return another kernel's matrix on the same points, stored for reuse."""
        for other in (self, *self._others):
            if other.kernel is kernel:  # equal kernels have no hash, and comparing their parameters is slow
                return other
        self._others.append(Gram(kernel, self.points))
        return self._others[-1]

    def pivoted_cholesky(self, max_rank: int) -> Rooted | None:
        """Return a root of at most so many rows; None where the kernel has a larger rank."""
        residual, first = self.diagonal.copy(), definite.precedence(self.size)
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

    def _kernel_column(self, point: int) -> Floats:
        column = np.asarray(self.kernel(self.points[point : point + 1], self.points), dtype=np.float64)[0]
        # A point covaries with itself by its full variance, also under scikit-learn's WhiteKernel.
        column[point] = self.diagonal[point]
        return column
