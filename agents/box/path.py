"""One posterior sample of a function, evaluated at any points."""

from __future__ import annotations

import numpy as np
from scipy.linalg import get_lapack_funcs

from bandit_envs.basics.types import Floats

from ..beliefs.surface import Surface
from ..kernels.point_slopes import linearise

(_trtrs,) = get_lapack_funcs(("trtrs",), dtype=np.float64)

JITTER = 1e-8  # of the largest posterior variance of the first points: the precision of a sampled value
LEAST_JITTER = 1e-12  # of the prior variance, against rounding in a posterior covariance


class Path:
    """Posterior sample of f - mean: new points are drawn given the values at all earlier points.

    So for any order and number of calls, all values together are one exact joint sample (up to the jitter).
    O(n^2 m + n m k) for m new points after n, under k plays.

    Args:
        rng: of this sample alone.
    """

    def __init__(self, surface: Surface, rng: np.random.Generator):
        self._surface, self._rng = surface, rng
        self._jitter = 0.0
        self._points: Floats | None = None  # (n, D)
        self._explained = np.empty((0, 0))  # (k, n)
        self._room = np.empty((0, 0))  # its first n rows and columns: the factor of the covariance so far
        self._white = np.empty(0)  # the draw is factor @ white

    def __call__(self, x: Floats) -> Floats:
        """Return the sample at points, (m, D) -> (m,)."""
        explained = self._surface.explain(x)
        covariance = linearise(self._surface.kernel, x, x).values - explained.T @ explained
        self._start(x, covariance)
        shared = self._shared(x, explained)
        covariance -= shared.T @ shared
        root = self._root(covariance)
        white = self._rng.standard_normal(len(x))
        deviation = shared.T @ self._white + root @ white
        self._extend(x, explained, shared, root, white)
        return deviation

    def _start(self, x: Floats, covariance: Floats) -> None:
        if self._points is not None:
            return
        prior = float(np.max(self._surface.kernel.diag(x)))
        self._jitter = max(JITTER * float(covariance.diagonal().max()), LEAST_JITTER * prior)
        self._points, self._explained = x[:0], np.empty((len(self._surface.spread.features), 0))

    def _shared(self, x: Floats, explained: Floats) -> Floats:
        """Return the factor's block between earlier and new points, (n, m)."""
        assert self._points is not None
        cross = linearise(self._surface.kernel, self._points, x).values - self._explained.T @ explained
        if not len(cross):  # LAPACK refuses empty matrices
            return cross
        # Fortran sees the factor as its transpose. Whole rows are passed: a part would be copied.
        return _trtrs(self._room[: len(cross)].T, cross, lower=0, trans=1)[0]

    def _root(self, covariance: Floats) -> Floats:
        """Return the lower factor of a covariance that may be singular, or by rounding indefinite."""
        diagonal = covariance.diagonal().copy()
        for _ in range(8):
            np.fill_diagonal(covariance, diagonal + self._jitter)
            try:
                return np.linalg.cholesky(covariance)  # type: ignore[return-value]
            except np.linalg.LinAlgError:
                self._jitter *= 10.0
        raise ValueError("the posterior covariance is not finite or not positive; check kernel and rewards")

    def _extend(self, x: Floats, explained: Floats, shared: Floats, root: Floats, white: Floats) -> None:
        assert self._points is not None
        old, total = len(self._points), len(self._points) + len(x)
        if total > len(self._room):
            room = np.zeros((2 * total, 2 * total))  # untouched memory is not allocated
            room[:old, :old] = self._room[:old, :old]
            self._room = room
        self._room[old:total, :old], self._room[old:total, old:total] = shared.T, root
        self._white = np.concatenate([self._white, white])
        self._points = np.concatenate([self._points, x])
        self._explained = np.hstack([self._explained, explained])
