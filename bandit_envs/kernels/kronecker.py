"""Kernels that are products over sets of points, and their covariances as Kronecker products.

With K_i = R_i'R_i on the n_i points of set i, R_i (r_i, n_i), the matrix R = R_1 (x) ... (x) R_k is a root
of K = K_1 (x) ... (x) K_k: r = r_1 ... r_k rows over N = n_1 ... n_k points. Only the R_i are ever made.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, reduce
from operator import mul
from typing import Any, NamedTuple

import numpy as np
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Kernel, Product

from bandit_envs.basics.types import Floats, Ints
from bandit_envs.kernels.definite import BLOCK_BYTES, FEW, blocks, quick_white
from bandit_envs.kernels.kernels import OnColumns

Columns = tuple[int, ...]  # indices of features, consecutive within a set
SLAB_BYTES = 2**18  # of values computed at once, as a processor's cache holds them


class PointSet(NamedTuple):
    """Hold some of the features, and all their values."""

    columns: Columns
    points: Floats  # (n, len(columns))


class ProductPart(NamedTuple):
    """Hold a kernel on a set."""

    kernel: Kernel
    points: Floats  # (n, d)


def parts_of(kernel: Kernel, points: Floats) -> list[ProductPart]:
    """Return the factors of a kernel on points in lexicographic order of their sets, the last one fastest.

    There is one factor, the kernel itself, if the points are no product or the kernel does not factor: the
    squared exponential factors over its features, a Matern kernel of several features does not.
    """
    if not isinstance(kernel, Kernel):
        return [ProductPart(kernel, points)]
    factors = _factors(kernel, tuple(range(points.shape[1])))
    sets = split(points)
    for _, columns in factors:
        sets = _joined(sets, columns)
    if len(sets) == 1:
        return [ProductPart(kernel, points)]
    parts = [ProductPart(_on_set(factors, each.columns), each.points) for each in sets]
    constants = [factor for factor, columns in factors if not columns]
    return [ProductPart(reduce(mul, constants, parts[0].kernel), parts[0].points), *parts[1:]]


def split(points: Floats, first: int = 0) -> list[PointSet]:
    """Return the sets of which points, (N, d), are the product, each of consecutive features."""
    size, width = points.shape
    for k in range(1, width):
        other = np.flatnonzero((points[:, :k] != points[0, :k]).any(axis=1))
        run = int(other[0]) if len(other) else size
        if size % run:
            continue
        table = points.reshape(size // run, run, width)
        if (table[:, :, :k] == table[:, :1, :k]).all() and (table[:, :, k:] == table[:1, :, k:]).all():
            columns = tuple(range(first, first + k))
            return [PointSet(columns, table[:, 0, :k]), *split(table[0, :, k:], first + k)]
    return [PointSet(tuple(range(first, first + width)), points)]


def _factors(kernel: Kernel, columns: Columns) -> list[tuple[Kernel, Columns]]:
    """Return kernels whose product is this kernel, each with the features that it depends on."""
    if type(kernel) is Product:
        return [*_factors(kernel.k1, columns), *_factors(kernel.k2, columns)]
    if type(kernel) is OnColumns:
        return _factors(kernel.kernel, tuple(columns[c] for c in kernel.columns))
    if type(kernel) is ConstantKernel:
        return [(kernel, ())]
    if type(kernel) is RBF:
        scales = np.broadcast_to(kernel.length_scale, len(columns))
        return [(RBF(float(scale)), (c,)) for scale, c in zip(scales, columns, strict=True)]
    return [(kernel, columns)]


def _joined(sets: list[PointSet], columns: Iterable[int]) -> list[PointSet]:
    """Return the sets, with one in place of all sets from the first to the last that a factor depends on."""
    touched = [i for i, each in enumerate(sets) if set(each.columns) & set(columns)]
    if len(touched) < 2:
        return sets
    first, last = touched[0], touched[-1] + 1
    return [*sets[:first], reduce(_product, sets[first:last]), *sets[last:]]


def _product(a: PointSet, b: PointSet) -> PointSet:
    pairs = np.hstack([np.repeat(a.points, len(b.points), axis=0), np.tile(b.points, (len(a.points), 1))])
    return PointSet(a.columns + b.columns, pairs)


def _on_set(factors: list[tuple[Kernel, Columns]], columns: Columns) -> Kernel:
    """Return the product of the factors that depend on these features, as a kernel of them alone."""
    own = [(factor, seen) for factor, seen in factors if set(seen) & set(columns)]
    kernels: list[Any] = [OnColumns(factor, [columns.index(c) for c in seen]) for factor, seen in own]
    return reduce(mul, kernels) if kernels else ConstantKernel(1.0)


class Slab(NamedTuple):
    """Hold consecutive points, and R at them."""

    points: slice
    factors: "Kronecker"


class Kronecker:
    """Hold R by its factors R_i, (r_i, n_i) each, and their most rows under other rounding."""

    def __init__(self, roots: Sequence[Floats], most_rows: Sequence[int]):
        self.roots = [np.ascontiguousarray(root) for root in roots]
        self._most_rows = tuple(most_rows)

    @property
    def sides(self) -> tuple[int, ...]:
        """Return the number of points of each set, (n_1, ..., n_k)."""
        return tuple(root.shape[1] for root in self.roots)

    @property
    def ranks(self) -> tuple[int, ...]:
        """Return the number of rows of each factor, (r_1, ..., r_k)."""
        return tuple(len(root) for root in self.roots)

    @property
    def rank(self) -> int:
        """Return the number of rows of R."""
        return math.prod(self.ranks)

    @cached_property
    def eigenvalues(self) -> Floats:
        """Return the nonzero eigenvalues of K, descending, (r,): all products of the factors'."""
        each = [np.linalg.eigvalsh(root @ root.T) for root in self.roots]
        return np.asarray(np.sort(reduce(np.multiply.outer, each), axis=None)[::-1], dtype=np.float64)

    def white(self, rng: np.random.Generator) -> Floats:
        """Draw z of a draw z @ R, (r,); it consumes as many normals as there may be rows."""
        drawn = rng.standard_normal(self._most_rows)
        return drawn[tuple(slice(rank) for rank in self.ranks)].ravel()

    def quick_white(self, rng: np.random.Generator) -> Floats:
        """Draw z for agents, which need one each round, (r,): from another, shorter stream; see `roots`."""
        if self._most_rows == self.sides:
            return self.white(rng)
        if len(self.roots) == 1:
            return quick_white(self.rank, self._most_rows[0], rng)
        few = tuple(min(rows, FEW) for rows in self._most_rows)
        drawn, key = rng.standard_normal(few), rng.bit_generator.random_raw()
        if max(self.ranks) > FEW:
            drawn, corner = np.random.default_rng(key).standard_normal(self._most_rows), drawn
            drawn[tuple(map(slice, few))] = corner
        return drawn[tuple(map(slice, self.ranks))].ravel()

    def draw(self, rng: np.random.Generator) -> Floats:
        """Draw a function, (N,)."""
        return self.expand(self.white(rng)[None])[0]

    def expand(self, weights: Floats) -> Floats:
        """Return weights @ R, (n, r) -> (n, N): a mode product a factor, which turns r_i entries into n_i.

        Factors of fewer columns than rows are the first, as they leave the others less to do.
        """
        values, shape = weights, list(self.ranks)
        for i in sorted(range(len(shape)), key=lambda i: (self.sides[i] >= self.ranks[i], -i)):
            after = math.prod(shape[i + 1 :])
            values = _mode_product(values.reshape(-1, shape[i], after), self.roots[i])
            shape[i] = self.sides[i]
        return values.reshape(len(weights), math.prod(shape))

    def slabs(self, weights: Floats) -> Iterator[tuple[slice, Floats]]:
        """Yield `expand` of one row, (r,), as slices of points with their values, each of cache size."""
        first, rest = self.roots[0], Kronecker(self.roots[1:], self._most_rows[1:])
        inner = first.T @ weights.reshape(len(first), -1)  # (n_1, r_2 ... r_k)
        size = math.prod(rest.sides)
        step = max(SLAB_BYTES // (8 * size), 1)
        for i in range(0, len(inner), step):
            values = rest.expand(inner[i : i + step]).reshape(-1)
            yield slice(i * size, i * size + len(values)), values

    def divided(self, count: int) -> list[Slab]:
        """Return at least `count` slabs of points, if the first set has so many points."""
        first, *rest = self.roots
        size, step = math.prod(self.sides[1:]), max(first.shape[1] // count, 1)
        return [
            Slab(slice(i * size, (i + part.shape[1]) * size), Kronecker([part, *rest], self._most_rows))
            for i in range(0, first.shape[1], step)
            for part in [first[:, i : i + step]]
        ]

    @property
    def largest_rest(self) -> float:
        """Return the largest norm of a column of R_2 (x) ... (x) R_k."""
        return math.sqrt(math.prod(float((root**2).sum(axis=0).max()) for root in self.roots[1:]))

    def features(self, point: Ints) -> Floats:
        """Return the columns of R at some points, (n,) -> (n, r)."""
        places = np.unravel_index(point, self.sides)
        columns = [root[:, place].T for root, place in zip(self.roots, places, strict=True)]
        return reduce(_row_products, columns)

    def quadratic(self, covariance: Floats) -> Floats:
        """Return diag(R'SR), the variances of R'w for weights of covariance S, (r, r) -> (N,)."""
        k = len(self.roots)
        axes = [axis for i in range(k) for axis in (i, k + i)]
        table = covariance.reshape(*self.ranks, *self.ranks).transpose(axes)  # (r_1, r_1, r_2, r_2, ...)
        squares = [_row_products(root.T, root.T).T for root in self.roots]  # (r_i^2, n_i)
        values = Kronecker(squares, self._most_rows).expand(table.reshape(1, -1))
        return values[0]

    def combine(self, point: Ints, weight: Floats) -> Floats:
        """Return K[:, X] @ w of some points, (u,) each -> (N,), R'(R_X w) or K_1[:, X_1] diag(w) K_2[X_2, :].

        The first is an `expand` and u r products, the second u N.
        """
        if self.products(len(point)) < len(point) * math.prod(self.sides):
            some = blocks(np.arange(len(point)), self.rank, BLOCK_BYTES)
            weights = [weight[rows] @ self.features(point[rows]) for rows in some]
            return self.expand(sum(weights, np.zeros(self.rank))[None])[0]
        places = np.unravel_index(point, self.sides)
        columns = [root.T @ root[:, place] for root, place in zip(self.roots, places, strict=True)]
        left = reduce(_column_products, columns[:-1], weight[None])
        return (left @ columns[-1].T).ravel()

    def products(self, count: float) -> float:
        """Return the number of multiplications of a combination of `count` points."""
        return min(count * math.prod(self.sides), self.expansion + count * self.rank)

    @property
    def expansion(self) -> int:
        """Return the number of multiplications of an `expand`."""
        ends = range(len(self.roots))
        return sum(math.prod(self.ranks[: i + 1]) * math.prod(self.sides[i:]) for i in ends)


def _mode_product(values: Floats, root: Floats) -> Floats:
    """Multiply along the middle axis, (m, r, s) and (r, n) -> (m, n, s)."""
    if values.shape[2] == 1:
        return (values[:, :, 0] @ root)[:, :, None]
    return np.matmul(root.T, values)


def _row_products(a: Floats, b: Floats) -> Floats:
    """Return all products of entries in the same row, (n, p) and (n, q) -> (n, p q)."""
    return (a[:, :, None] * b[:, None, :]).reshape(len(a), a.shape[1] * b.shape[1])


def _column_products(a: Floats, b: Floats) -> Floats:
    """Return all products of entries in the same column, (p, n) and (q, n) -> (p q, n)."""
    return (a[:, None, :] * b[None, :, :]).reshape(len(a) * len(b), a.shape[1])
