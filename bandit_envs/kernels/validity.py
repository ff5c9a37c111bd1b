"""Check that a user's kernel is positive semi-definite on the points where it is used."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import (
    RBF,
    ConstantKernel,
    DotProduct,
    Kernel,
    Matern,
    Product,
    RationalQuadratic,
    Sum,
    WhiteKernel,
)

from bandit_envs.basics.types import Floats
from bandit_envs.kernels.definite import require_definite
from bandit_envs.kernels.kernels import TableKernel

MOST_POINTS = 1000  # on which an unknown kernel is tested: an eigenvalue problem of 0.2 s
KNOWN = (RBF, Matern, RationalQuadratic, DotProduct, ConstantKernel, WhiteKernel, TableKernel)
REMEDY = (
    "take a kernel of scikit-learn such as RBF, or TableKernel.nearest(covariance) for covariances of data"
)


def require_valid(kernel: Any, points: Floats) -> None:
    """Raise unless a kernel is known to be positive semi-definite, or is found so on points, (n, d).

    If there are many points, evenly spread ones are tested.
    """
    if _is_known(kernel):
        return
    tried = points[np.unique(np.linspace(0, len(points) - 1, MOST_POINTS).astype(np.int64))]
    require_definite(f"kernel {kernel!r}", np.asarray(kernel(tried)), REMEDY)


def _is_known(kernel: Any) -> bool:
    """Return whether a kernel has known parts only; a subclass of a known class is another kernel."""
    if type(kernel) in KNOWN:
        return True
    if type(kernel) not in (Sum, Product) and not getattr(kernel, "maps_features", False):
        return False
    parts = kernel.get_params(deep=False).values()
    return all(_is_known(part) for part in parts if isinstance(part, Kernel))
