"""Factor a kernel on a product of point sets, where it is one: K = K_1 (x) ... (x) K_k, a factor a set."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from operator import mul
from typing import Any, NamedTuple

import numpy as np
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Kernel, Product

from bandit_envs.basics.types import Floats
from bandit_envs.kernels.column_kernel import OnColumns

Columns = tuple[int, ...]  # indices of features, consecutive within a set


class PointSet(NamedTuple):
    """Hold some of the features, and all their values."""

    columns: Columns
    points: Floats  # (n, len(columns))


class Part(NamedTuple):
    """Hold a kernel on a set."""

    kernel: Kernel
    points: Floats  # (n, d)


def parts_of(kernel: Kernel, points: Floats) -> list[Part]:
    """Return the factors of a kernel on points in lexicographic order of their sets, the last one fastest.

    There is one factor, the kernel itself, if the points are no product or the kernel does not factor: the
    squared exponential factors over its features, a Matern kernel of several features does not.

    Args:
        kernel: a scikit-learn kernel.
        points: (N, d).
    """
    if not isinstance(kernel, Kernel):
        return [Part(kernel, points)]
    factors = _factors(kernel, tuple(range(points.shape[1])))
    sets = split(points)
    for _, columns in factors:
        sets = _joined(sets, columns)
    if len(sets) == 1:
        return [Part(kernel, points)]
    parts = [Part(_on_set(factors, each.columns), each.points) for each in sets]
    constants = [factor for factor, columns in factors if not columns]
    return [Part(reduce(mul, constants, parts[0].kernel), parts[0].points), *parts[1:]]


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
