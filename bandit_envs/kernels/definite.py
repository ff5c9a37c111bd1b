"""Covariance matrices: their size, their definiteness, and the roots that draws are made from.

A pivoted factor takes the point of the largest residual variance next. On a grid many are equally large, and
the last bit of a sum would choose among them, hence choose the draw. So earlier points come first unless a
later one has clearly more left: up to twice as much, which costs a factor nothing in accuracy. Rounding
still chooses among pivots of residual variances near 1e-9 on thousands of points, 1e-4 stds of a draw.
"""

from collections.abc import Iterator
from typing import TypeVar

import numpy as np
from scipy.linalg import eigvalsh
from scipy.linalg.lapack import dpstrf  # type: ignore[attr-defined]

from bandit_envs.basics.arguments import ArgumentError
from bandit_envs.basics.types import Floats, Ints

Array = TypeVar("Array", Floats, Ints)

MOST_DENSE = 20_000  # points of a whole matrix, 3.2 GB
SLOW = 5000  # points from which on its root takes more than 4 s, with the cube of their number
AVOID = (
    'take points="grid" and as num_arms a dim-th power with a kernel such as "rbf" or "matern52", or '
    "random_features=512, which makes a kernel of 512 features the problem's"
)
BLOCK_BYTES = 2**22  # of covariances computed at once where they are not stored: the size of a cache
LEAST = 0.5  # weight of the last point; between neighbours of N it falls by 1 / (2 N), far more than rounding

FEW = 64  # rows of a factor, enough for most roots of low rank


def spread(size: int, count: int) -> Ints:
    """Return `count` of `size` indices, ascending, from a fixed seed: on a grid they lie on no diagonal."""
    return np.sort(np.random.default_rng(0).choice(size, count, replace=False))


def blocks(rows: Array, width: int, most: int) -> Iterator[Array]:
    """Cut rows of `width` numbers into blocks of at most `most` bytes; one block if there are no rows."""
    step = max(most // (8 * width), 1)
    return (rows[i : i + step] for i in range(0, max(len(rows), 1), step))


def slow_root(size: int) -> str:
    """Return the warning for points of which a draw needs the root of the whole covariance."""
    seconds = 50 * (size / 12_000) ** 3
    return (
        f"num_arms should be at most {SLOW} over all contexts where functions, constraints or budgets are "
        f"drawn from a GP without a structure that avoids its covariance, got {size}, for which the first "
        f'reset takes about {seconds:.0f} s; leave constraints="gp" out of a table, or {AVOID}'
    )


def too_many(size: int) -> ArgumentError:
    """Return the error for points that would need a whole matrix."""
    return ArgumentError(
        "num_arms",
        f"must be at most {MOST_DENSE} over all contexts, unless kernel and points have a structure that "
        f"avoids their covariance, got {size}, for which it takes {8e-9 * size**2:.0f} GB; {AVOID}",
    )


def require_definite(argument: str, covariance: Floats, remedy: str) -> None:
    """Raise unless a matrix is symmetric and positive semi-definite up to rounding, (n, n).

    An eigenvalue of a computed covariance may fall short of 0 by n eps times the largest.
    """
    given = _matrix(argument, covariance)
    rounding = len(given) * np.finfo(np.float64).eps
    if np.abs(given - given.T).max() > rounding * np.abs(given).max():
        raise ValueError(f"{argument} must be symmetric, got {covariance!r}; give (c + c.T) / 2")
    values = eigvalsh(given)
    if values[0] < -rounding * max(values[-1], 0.0):
        raise ValueError(
            f"{argument} must be positive semi-definite, got a smallest eigenvalue of {values[0]:.3g} and "
            f"a largest of {values[-1]:.3g}; {remedy}"
        )


def nearest_definite(covariance: Floats) -> Floats:
    """Return a positive semi-definite matrix near a symmetric one, with the same variances, (n, n) -> (n, n).

    Negative eigenvalues become 0, which is the nearest in the Frobenius norm and raises variances; rows and
    columns are then scaled back to the variances that were given.
    """
    given = _matrix("covariance", covariance)
    values, vectors = np.linalg.eigh((given + given.T) / 2.0)
    clipped = (vectors * np.maximum(values, 0.0)) @ vectors.T
    raised = np.diag(clipped)
    scale = np.sqrt(np.diag(given) / np.where(raised > 0.0, raised, 1.0))
    near = scale[:, None] * clipped * scale
    return (near + near.T) / 2.0


def _matrix(argument: str, covariance: Floats) -> Floats:
    given = np.asarray(covariance)
    square = given.ndim == 2 and len(given) == given.shape[-1] > 0 and given.dtype.kind in "iuf"
    if not square or not np.isfinite(given).all():
        raise ValueError(
            f"{argument} must be finite numbers of shape (n, n), got {covariance!r}; leave out "
            "rows and columns without joint records"
        )
    return np.asarray(given, dtype=np.float64)


def precedence(size: int) -> Floats:
    """Return weights of residual variances that fall from 1 at the first point, (N,)."""
    return 1.0 - (1.0 - LEAST) * np.arange(size) / size


def pivoted_root(covariance: Floats, floor: float) -> tuple[Floats, Ints]:
    """Return R with R'R = K up to `floor` / LEAST, (r, N), and its pivots, (r,); uses up K, (N, N).

    With D = sqrt(precedence), the factor is that of D K D up to `floor`, divided by D.
    """
    weight = np.sqrt(precedence(len(covariance)))
    covariance *= weight
    covariance *= weight[:, None]
    factor, pivot, rank, _ = dpstrf(covariance.T, tol=floor, overwrite_a=1)
    root = np.empty((rank, len(covariance)))
    root[:, pivot - 1] = np.triu(factor[:rank])
    root /= weight
    return root, pivot[:rank] - 1


def white(rank: int, most: int, rng: np.random.Generator) -> Floats:
    """Draw z of a draw z @ root, (r,); it consumes `most` normals, as rounding may change the rank by one."""
    return rng.standard_normal(most)[:rank]


def quick_white(rank: int, most: int, rng: np.random.Generator) -> Floats:
    """Draw z of a draw z @ root, (r,), for agents that need one in every round.

    Rounding may change the rank r by one, up to `most`; later draws stay the same, and so do the entries of
    both ranks. So `FEW` numbers are drawn and a key, and only a larger rank takes more, from a stream of that
    key.
    """
    if most <= FEW:
        return white(rank, most, rng)
    drawn, key = rng.standard_normal(FEW), rng.bit_generator.random_raw()
    if rank <= FEW:
        return drawn[:rank]
    return np.concatenate([drawn, np.random.default_rng(key).standard_normal(rank - FEW)])
