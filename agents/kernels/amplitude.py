"""The constant factor of a kernel: its presence, its path, and the kernel in other units."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.gaussian_process.kernels import ConstantKernel, Kernel, Product

from bandit_envs.basics.types import Bools

AMPLITUDE_BOUNDS = (1e-4, 1e4)  # of the prior variance; the floor applies where all values are zero


def with_amplitude(kernel: Any) -> Any:
    """Give a kernel a constant factor, unless it has one."""
    return kernel if has_amplitude(kernel) else ConstantKernel(1.0, AMPLITUDE_BOUNDS) * kernel


def has_amplitude(kernel: Kernel) -> bool:
    """Return True if a kernel is a product with a constant."""
    return any(True for _ in _paths(kernel))


def amplitude_path(kernel: Kernel) -> str:
    """Return the parameter name of a kernel's constant factor: the first one that may be learnt."""
    paths = list(_paths(kernel))
    return next((path for path in paths if is_at(kernel, path).any()), paths[0])


def is_at(kernel: Kernel, path: str) -> Bools:
    """Return the mask of the free hyperparameters that belong to a parameter, (p,)."""
    free = [each for each in kernel.hyperparameters if not each.fixed]
    return np.array([each.name == path for each in free for _ in range(each.n_elements)], dtype=np.bool_)


def amplified_at(kernel: Any, path: str, factor: float) -> Any:
    """Return the kernel times a factor, which multiplies one of its constants and their bounds."""
    given = kernel.get_params()
    bounds = given[f"{path}_bounds"]
    scaled = bounds if isinstance(bounds, str) else tuple(np.multiply(factor, bounds).ravel())
    same: Any = clone(kernel)
    return same.set_params(**{path: factor * given[path], f"{path}_bounds": scaled})


def unit_kernel(kernel: Kernel, deviation: float) -> Kernel:
    """Return a kernel of largest prior std `deviation` scaled to std 1, with equally many free parameters."""
    if deviation == 1.0:
        return kernel
    variance = deviation**-2
    bounds = "fixed" if has_amplitude(kernel) else tuple(np.multiply(variance, AMPLITUDE_BOUNDS))
    return ConstantKernel(variance, bounds) * kernel  # type: ignore[arg-type] (it takes both)


def _paths(kernel: Kernel, prefix: str = "") -> Iterator[str]:
    if isinstance(kernel, Product):
        yield from _paths(kernel.k1, f"{prefix}k1__")
        yield from _paths(kernel.k2, f"{prefix}k2__")
    elif isinstance(kernel, ConstantKernel):
        yield f"{prefix}constant_value"
