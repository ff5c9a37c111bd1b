"""The smoothness of a kernel's functions, for composed kernels too."""

from __future__ import annotations

import math

from sklearn.gaussian_process.kernels import (
    RBF,
    ConstantKernel,
    DotProduct,
    Kernel,
    KernelOperator,
    RationalQuadratic,
)

from bandit_envs.kernels.kernels import OnColumns

from .context_free import InContext
from .shape import smoothness

PAPER_SMOOTHNESS = 2.5  # of Avanesov (2020), for other kernels
INFINITELY_SMOOTH = (RBF, RationalQuadratic, DotProduct, ConstantKernel)


def order_of(kernel: Kernel) -> float:
    """Return the smoothness of a kernel's functions, that of its roughest part."""
    if isinstance(kernel, KernelOperator):
        return min(order_of(kernel.k1), order_of(kernel.k2))
    if isinstance(kernel, OnColumns | InContext):
        return order_of(kernel.kernel)
    known = smoothness(kernel)
    if known is not None:
        return known
    return math.inf if isinstance(kernel, INFINITELY_SMOOTH) else PAPER_SMOOTHNESS
