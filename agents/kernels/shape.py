"""The shape of a kernel without its amplitude, on which formulas depend, and its smoothness."""

import math
from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Kernel, Matern, Product

from bandit_envs.basics.types import Floats


def split_amplitude(kernel: Kernel) -> tuple[float, Kernel]:
    """Write a kernel as variance * shape, with every constant factor in the variance."""
    if not isinstance(kernel, Product):
        return 1.0, kernel
    for constant, other in ((kernel.k1, kernel.k2), (kernel.k2, kernel.k1)):
        if isinstance(constant, ConstantKernel):
            variance, shape = split_amplitude(other)
            return float(constant.constant_value) * variance, shape
    return 1.0, kernel


def largest_deviation(kernel: Kernel, points: Floats) -> float:
    """Return the largest prior std s on points, (n, d); papers with k(x, x) <= 1 have s = 1."""
    variance: Any = kernel.diag(points)  # abstract in scikit-learn's base class
    return float(np.sqrt(np.max(variance)))


def smoothness(kernel: Kernel) -> float | None:
    """Return nu of a Matern kernel, infinity for the squared exponential, None for any other kernel."""
    if isinstance(kernel, Matern):  # before RBF, because scikit-learn derives Matern from RBF
        return float(kernel.nu)
    return math.inf if isinstance(kernel, RBF) else None
