"""Draws of the prior by a root that is triangular at its pivots, without reading its zeros."""

from __future__ import annotations

import numpy as np
from scipy.linalg import get_blas_funcs

from bandit_envs.basics.types import Floats
from bandit_envs.kernels.gram import Gram

(_trmv,) = get_blas_funcs(("trmv",), dtype=np.float64)


class PriorDraw:
    """z R of the root R (r, N) of a prior, for one z at a time; half the memory traffic where r = N.

    The root must have been computed pivot by pivot, R[i, pivots[j]] = 0 for j < i. It is stored a second
    time.
    """

    def __init__(self, gram: Gram):
        rest = np.setdiff1d(np.arange(gram.size), gram.pivots)
        self._triangle = np.asfortranarray(gram.root[:, gram.pivots])  # (r, r), upper
        self._rest = gram.root[:, rest]  # (r, N - r)
        self._place = np.argsort(np.concatenate([gram.pivots, rest]))

    def __call__(self, weight: Floats) -> Floats:
        """Return z R, (r,) -> (N,)."""
        at_pivots = _trmv(self._triangle, weight, trans=1)
        return np.concatenate([at_pivots, weight.dot(self._rest)]).take(self._place)
