r"""The posterior computed from play counts and value sums.

n plays of one point are equivalent to one observation of their mean with noise lambda / n. So with X
the u distinct points played, L L' = K_XX + diag(lambda / n) and V = L^-1 K_X,

    Sigma = K - V'V,    mu = V' L^-1 (b / n)_X,    gain = sum log diag(L) + 1/2 sum log(n / lambda).
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import get_blas_funcs, get_lapack_funcs

from bandit_envs.basics.types import Floats, Ints
from bandit_envs.kernels.gram import Gram

(_trsm,) = get_blas_funcs(("trsm",), dtype=np.float64)
(_trtrs,) = get_lapack_funcs(("trtrs",), dtype=np.float64)


class Condensed(NamedTuple):
    """One trial's posterior and the factor that it was computed from."""

    point: Ints  # (u,) distinct points played, ascending
    triangle: Floats  # (u, u) L, lower
    factor: Floats  # (u, N) V
    mean: Floats  # (N,)
    variance: Floats  # (N,)
    gain: float


def condense(gram: Gram, noise: float, count: Floats, total: Floats) -> Condensed:
    """Return the posterior of one trial from its counts and sums, (N,) each; O(u^2 N)."""
    point = count.nonzero()[0]
    plays = count[point]
    factor = gram.columns(point)
    covariance = factor[:, point]
    covariance[np.diag_indices(len(point))] += noise / plays
    triangle = np.asarray(np.linalg.cholesky(covariance), dtype=np.float64)
    solve_rows(triangle, factor)
    innovation = solve_vector(triangle, total[point] / plays)
    variance = gram.diagonal - np.einsum("un,un->n", factor, factor)
    gain = np.log(np.diag(triangle)).sum() + 0.5 * np.log(plays / noise).sum()
    return Condensed(point, triangle, factor, innovation @ factor, variance, float(gain))


def solve_rows(triangle: Floats, rows: Floats) -> None:
    """Replace rows (u, N) by L^-1 rows, in place."""
    if len(rows):  # BLAS refuses empty matrices
        # Fortran sees the rows as their transpose: rows' <- rows' L^-T.
        _trsm(1.0, triangle.T, rows.T, side=1, lower=0, overwrite_b=1)


def solve_vector(triangle: Floats, vector: Floats) -> Floats:
    """Return L^-1 v, (u, u) and (u,) -> (u,); whole rows of a larger array are not copied, parts are."""
    return _trtrs(triangle.T, vector, lower=0, trans=1)[0] if len(vector) else vector
