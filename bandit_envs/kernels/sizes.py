"""Limit the number of points of a whole covariance, and cut larger computations into blocks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

import numpy as np

from bandit_envs.basics.arguments import ArgumentError
from bandit_envs.basics.types import Floats, Ints

Array = TypeVar("Array", Floats, Ints)

MOST_DENSE = 20_000  # points of a whole matrix, 3.2 GB; a draw of an RKHS function takes 10 GB with it
BLOCK_BYTES = 2**22  # of covariances computed at once where they are not stored: the size of a cache


def spread(size: int, count: int) -> Ints:
    """Return `count` of `size` indices, ascending, from a fixed seed: on a grid they lie on no diagonal."""
    return np.sort(np.random.default_rng(0).choice(size, count, replace=False))


def blocks(rows: Array, width: int, most: int) -> Iterator[Array]:
    """Cut rows of `width` numbers into blocks of at most `most` bytes; one block if there are no rows."""
    step = max(most // (8 * width), 1)
    return (rows[i : i + step] for i in range(0, max(len(rows), 1), step))


def too_many(size: int) -> ArgumentError:
    """Return the error for points that would need a whole matrix."""
    return ArgumentError(
        "num_arms",
        f"must be at most {MOST_DENSE} over all contexts, unless kernel and points have a structure that "
        f"avoids their covariance, got {size}, for which it takes {8e-9 * size**2:.0f} GB; take "
        'points="grid" and as num_arms a dim-th power with a kernel such as "rbf" or "matern52", or '
        "random_features=512, which makes a kernel of 512 features the problem's",
    )
