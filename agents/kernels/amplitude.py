"""The amplitude of a kernel, its shape, its smoothness, and the kernel with shorter length-scales."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.gaussian_process.kernels import (
    RBF,
    ConstantKernel,
    DotProduct,
    Kernel,
    KernelOperator,
    Matern,
    Product,
    RationalQuadratic,
)

from bandit_envs.basics.types import Bools, Floats
from bandit_envs.kernels.kernels import OnColumns

from .context_free import InContext

AMPLITUDE_BOUNDS = (1e-4, 1e4)  # of the prior variance; the floor applies where all values are zero
PAPER_SMOOTHNESS = 2.5  # of Avanesov (2020), for other kernels
INFINITELY_SMOOTH = (RBF, RationalQuadratic, DotProduct, ConstantKernel)
LENGTH = "length_scale"  # name of the parameters in the unit of points


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


class FoundAmplitude(ConstantKernel):
    """Constant factor that scales a kernel to the std of observed values, see `of_deviation`."""


def of_deviation(kernel: Kernel, deviation: float) -> Kernel:
    """Return a kernel of prior std 1 scaled to another std, with equally many free parameters."""
    variance = deviation**2
    return FoundAmplitude(variance, tuple(np.multiply(variance, AMPLITUDE_BOUNDS))) * kernel


def is_found(kernel: Any) -> bool:
    """Return True if a kernel's amplitude was estimated from values; False for objects that are no kernel."""
    if not isinstance(kernel, Kernel):
        return False
    return any(isinstance(each, FoundAmplitude) for each in kernel.get_params().values())


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


def shortened(kernel: Kernel, factor: float) -> Any:
    """Return the kernel with every length-scale, and its bounds, divided by a factor."""
    given = kernel.get_params()
    lengths = {name: _divided(given[name], factor) for name in given if name.endswith(LENGTH)}
    bounds = {name: _divided(given[name], factor) for name in given if name.endswith(f"{LENGTH}_bounds")}
    same: Any = clone(kernel)
    return same.set_params(**lengths, **bounds)


def has_length_scale(kernel: Kernel) -> bool:
    """Return True if there is a length-scale to shorten; covariances without coordinates have none."""
    return any(name.endswith(LENGTH) for name in kernel.get_params())


def inflation(factor: float, dim: int) -> float:
    r"""Return c^(d/2), c the factor: |f| with length-scales l / c is at most that times |f| with l, c >= 1.

    It holds for every stationary kernel whose spectrum falls with the frequency: with S_l(w) = l^d s(l w),
    S_l(w) <= c^d S_{l/c}(w), and |f|^2 is the integral of |F(w)|^2 / S(w) (Bull 2011, Lemma 4).
    """
    return factor ** (dim / 2)


def _divided(value: Any, factor: float) -> Any:
    if isinstance(value, str):  # "fixed"
        return value
    return np.divide(value, factor) if np.ndim(value) else value / factor
