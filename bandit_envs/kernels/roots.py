"""Roots of covariances, from which draws are made: the same ones wherever sums are rounded otherwise.

A pivoted factor takes the point of the largest residual variance next. On a grid many are equally large, and
the last bit of a sum would choose among them, hence choose the draw: of equal ones the first is taken.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dpstrf  # type: ignore[attr-defined]

from bandit_envs.basics.types import Floats, Ints

ALIKE = 1e-6  # residual variances that differ by less, relatively, may differ by rounding


def precedence(size: int) -> Floats:
    """Factors just below 1 that fall from point to point, (N,): of equal variances the first is largest."""
    return 1.0 - ALIKE * np.arange(size) / size


def pivoted_root(covariance: Floats, floor: float) -> tuple[Floats, Ints]:
    """Return R with R'R = K up to `floor`, (r, N), and its pivots, (r,); uses up K, (N, N).

    With D = sqrt(precedence), the factor is that of D K D, divided by D.
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
    """Draw the z of a draw z @ root, (r,), taking N numbers: rounding may move the rank by one."""
    return rng.standard_normal(root.shape[1])[: len(root)]
