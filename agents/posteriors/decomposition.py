"""The factor of plays, computed once for posteriors of the same plays."""

from __future__ import annotations

from typing import Protocol
from weakref import WeakKeyDictionary, ref

import numpy as np
from scipy.linalg.lapack import dpotrf  # type: ignore[attr-defined]

from bandit_envs.basics.types import Floats, Ints


class Between(Protocol):
    """Prior covariance of some points with others."""

    def between(self, rows: Ints, columns: Ints) -> Floats:
        """Return k(x_i, x_j), (n,) and (m,) -> (n, m), as a copy."""
        ...


_latest: WeakKeyDictionary[Between, tuple[bytes, ref[Floats]]] = WeakKeyDictionary()


def decompose(gram: Between, point: Ints, noise: Floats, capacity: int) -> Floats:
    """Return the lower factor of k(X, X) + diag(noise), (u,) each, with spare rows -> (capacity, capacity).

    Without pending plays, mean and std have the same plays: the second call then copies the result of the
    first, as long as that is alive. Rows beyond u may have been written to since.

    Args:
        gram: of the prior.
        point: X.
        noise: of each row.
        capacity: at least u.
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


def _factor(gram: Between, point: Ints, noise: Floats) -> Floats:
    """Return the factor in place, because fresh memory is slow; its upper triangle is undefined."""
    covariance = gram.between(point, point)
    covariance[np.diag_indices(len(point))] += noise
    upper, failed = dpotrf(covariance.T, lower=0, clean=0, overwrite_a=1)  # Fortran sees the transpose
    if failed:
        raise np.linalg.LinAlgError("the covariance of the plays is not positive definite")
    return upper.T
