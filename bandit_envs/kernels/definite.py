"""Check that a matrix can be a covariance, and find the nearest one that can."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigvalsh

from bandit_envs.basics.types import Floats


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
