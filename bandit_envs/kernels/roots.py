"""Compute roots of covariances for draws that do not depend on rounding.

A pivoted factor takes the point of the largest residual variance next. On a grid many are equally large, and
the last bit of a sum would choose among them, hence choose the draw. So earlier points come first unless a
later one has clearly more left: up to twice as much, which costs a factor nothing in accuracy. Rounding
still chooses among pivots of residual variances near 1e-9 on thousands of points, 1e-4 stds of a draw.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dpstrf  # type: ignore[attr-defined]

from bandit_envs.basics.types import Floats, Ints

LEAST = 0.5  # weight of the last point; between neighbours of N it falls by 1 / (2 N), far more than rounding

FEW = 64  # rows of a factor, enough for most roots of low rank


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


def white(rng: np.random.Generator, root: Floats) -> Floats:
    """Draw z of a draw z @ root, (r,); it consumes N normals, as rounding may change the rank by one."""
    return rng.standard_normal(root.shape[1])[: len(root)]


def quick_white(rng: np.random.Generator, rank: int, most: int) -> Floats:
    """Draw z of a draw z @ root, (r,), for agents that need one in every round.

    Rounding may change the rank by one; later draws stay the same, and so do the entries of both ranks. So
    `FEW` numbers are drawn and a key, and only a larger rank takes more, from a stream of that key.

    Args:
        rng: advances by the same amount whatever the rank is.
        rank: r.
        most: largest number of rows under other rounding.
    """
    if most <= FEW:
        return rng.standard_normal(most)[:rank]
    drawn, key = rng.standard_normal(FEW), rng.bit_generator.random_raw()
    if rank <= FEW:
        return drawn[:rank]
    return np.concatenate([drawn, np.random.default_rng(key).standard_normal(rank - FEW)])
