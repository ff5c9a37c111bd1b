"""The posterior computed afresh from counts and sums, and the factor of plays that posteriors share.

n plays of one point are equivalent to one observation of their mean with noise lambda / n. So with X
the u distinct points played, L L' = K_XX + diag(lambda / n) and V = L^-1 K_X,

    Sigma = K - V'V,    mu = V' L^-1 (b / n)_X,    gain = sum log diag(L) + 1/2 sum log(n / lambda).
"""

from __future__ import annotations

from typing import NamedTuple
from weakref import WeakKeyDictionary, ref

import numpy as np
from scipy.linalg import get_blas_funcs, get_lapack_funcs
from scipy.linalg.lapack import dpotrf  # type: ignore[attr-defined]

from bandit_envs.basics.types import Floats, Ints
from bandit_envs.kernels.gram import Gram

from ..kernels.visited import VisitedGram

(_trsm,) = get_blas_funcs(("trsm",), dtype=np.float64)
(_trtrs,) = get_lapack_funcs(("trtrs",), dtype=np.float64)
_latest: WeakKeyDictionary[Gram | VisitedGram, tuple[bytes, ref[Floats]]] = WeakKeyDictionary()


class CondensedPlays(NamedTuple):
    """One trial's posterior and the factor that it was computed from."""

    point: Ints  # (u,) distinct points played, ascending
    triangle: Floats  # (u, u) L, lower
    factor: Floats  # (u, N) V
    mean: Floats  # (N,)
    variance: Floats  # (N,)
    gain: float


def condense(gram: Gram, noise: float, count: Floats, total: Floats) -> CondensedPlays:
    """Return the posterior of one trial from its counts and sums, (N,) each; O(u^2 N).

    n plays of one point are equivalent to one observation of their mean with noise lambda / n. So with X
    the u distinct points played, L L' = K_XX + diag(lambda / n) and V = L^-1 K_X,

        Sigma = K - V'V,    mu = V' L^-1 (b / n)_X,    gain = sum log diag(L) + 1/2 sum log(n / lambda).
    """
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
    return CondensedPlays(point, triangle, factor, innovation @ factor, variance, float(gain))


def solve_rows(triangle: Floats, rows: Floats) -> None:
    """Replace rows (u, N) by L^-1 rows, in place."""
    if len(rows):  # BLAS refuses empty matrices
        # Fortran sees the rows as their transpose: rows' <- rows' L^-T.
        _trsm(1.0, triangle.T, rows.T, side=1, lower=0, overwrite_b=1)


def solve_vector(triangle: Floats, vector: Floats) -> Floats:
    """Return L^-1 v, (u, u) and (u,) -> (u,); whole rows of a larger array are not copied, parts are."""
    return _trtrs(triangle.T, vector, lower=0, trans=1)[0] if len(vector) else vector


def decompose(gram: Gram | VisitedGram, point: Ints, noise: Floats, capacity: int) -> Floats:
    """Return the lower factor of k(X, X) + diag(noise), (u,) each, with spare rows -> (capacity, capacity).

    Without pending plays, mean and std have the same plays: the second call then copies the result of the
    first, as long as that is alive. Rows beyond u may have been written to since.
    """
    size, key = len(point), point.tobytes() + noise.tobytes()
    known, alive = _latest.get(gram, (b"", lambda: None))
    before = alive() if known == key else None
    triangle = np.empty((capacity, capacity))
    if before is None:
        triangle[:size, :size] = _factor(gram, point, noise)
        _latest[gram] = key, ref(triangle)
    else:
        triangle[:size, :size] = before[:size, :size]
    return triangle


def _factor(gram: Gram | VisitedGram, point: Ints, noise: Floats) -> Floats:
    """Return the factor in place, because fresh memory is slow; its upper triangle is undefined."""
    covariance = gram.between(point, point)
    covariance[np.diag_indices(len(point))] += noise
    upper, failed = dpotrf(covariance.T, lower=0, clean=0, overwrite_a=1)  # Fortran sees the transpose
    if failed:
        raise np.linalg.LinAlgError("the covariance of the plays is not positive definite")
    return upper.T
