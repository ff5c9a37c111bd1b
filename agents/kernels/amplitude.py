"""A kernel's amplitude, shape and smoothness, the kernel with shorter length-scales, and without contexts."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.gaussian_process import kernels
from sklearn.gaussian_process.kernels import ConstantKernel, Kernel, Product

from bandit_envs.basics.types import Bools, Floats
from bandit_envs.kernels.kernels import OnColumns
from bandit_envs.problem.setting import Setting

AMPLITUDE_BOUNDS = (1e-4, 1e4)  # of the prior variance; the floor applies where all values are zero
PAPER_SMOOTHNESS = 2.5  # of Avanesov (2020), for other kernels
INFINITELY_SMOOTH = (kernels.RBF, kernels.RationalQuadratic, kernels.DotProduct, ConstantKernel)
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


def unit_kernel(kernel: Kernel, std: float) -> Kernel:
    """Return a kernel of largest prior std `std` scaled to std 1, with equally many free parameters."""
    if std == 1.0:
        return kernel
    variance = std**-2
    bounds = "fixed" if has_amplitude(kernel) else tuple(np.multiply(variance, AMPLITUDE_BOUNDS))
    return ConstantKernel(variance, bounds) * kernel  # type: ignore[arg-type] (it takes both)


def _paths(kernel: Kernel, prefix: str = "") -> Iterator[str]:
    if isinstance(kernel, Product):
        yield from _paths(kernel.k1, f"{prefix}k1__")
        yield from _paths(kernel.k2, f"{prefix}k2__")
    elif isinstance(kernel, ConstantKernel):
        yield f"{prefix}constant_value"


class FoundAmplitude(ConstantKernel):
    """Constant factor that scales a kernel to the std of observed values, see `scaled_to_std`."""

    maps_features = True  # all points to one, so it is positive semi-definite


def scaled_to_std(kernel: Kernel, std: float) -> Kernel:
    """Return a kernel of prior std 1 scaled to another std, with equally many free parameters."""
    variance = std**2
    return FoundAmplitude(variance, tuple(np.multiply(variance, AMPLITUDE_BOUNDS))) * kernel


def is_found(kernel: Any) -> bool:
    """Return True if a kernel's amplitude was estimated from values; False for objects that are no kernel."""
    if not isinstance(kernel, Kernel):
        return False
    return FoundAmplitude in map(type, kernel.get_params().values())


def split_amplitude(kernel: Kernel) -> tuple[float, Kernel]:
    """Write a kernel as variance * shape, with every constant factor in the variance."""
    if not isinstance(kernel, Product):
        return 1.0, kernel
    for constant, other in ((kernel.k1, kernel.k2), (kernel.k2, kernel.k1)):
        if isinstance(constant, ConstantKernel):
            variance, shape = split_amplitude(other)
            return float(constant.constant_value) * variance, shape
    return 1.0, kernel


def largest_prior_std(kernel: Kernel, points: Floats) -> float:
    """Return the largest prior std s on points, (n, d); papers with k(x, x) <= 1 have s = 1."""
    variance: Any = kernel.diag(points)  # abstract in scikit-learn's base class
    return float(np.sqrt(np.max(variance)))


def smoothness(kernel: Kernel) -> float | None:
    """Return nu of a Matern kernel, infinity for the squared exponential, None for any other kernel."""
    if isinstance(kernel, kernels.Matern):  # before RBF, because scikit-learn derives Matern from RBF
        return float(kernel.nu)
    return math.inf if isinstance(kernel, kernels.RBF) else None


def order_of(kernel: Kernel) -> float:
    """Return the smoothness of a kernel's functions, that of its roughest part."""
    if isinstance(kernel, kernels.KernelOperator):
        return min(order_of(kernel.k1), order_of(kernel.k2))
    if isinstance(kernel, OnColumns | InContext):
        return order_of(kernel.kernel)
    known = smoothness(kernel)
    if known is not None:
        return known
    return math.inf if isinstance(kernel, INFINITELY_SMOOTH) else PAPER_SMOOTHNESS


def shortened(kernel: Kernel, factor: float) -> Any:
    """Return the kernel with every length-scale, and its bounds, divided by a factor."""
    same: Any = clone(kernel)
    given, ends = kernel.get_params(), (LENGTH, f"{LENGTH}_bounds")
    return same.set_params(**{name: _divided(given[name], factor) for name in given if name.endswith(ends)})


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


def without_contexts(setting: Setting) -> Setting:
    """Return the setting with the same arms in one context; variation over contexts then looks like noise.

    The kernel is that of the arms in the first context, the prior mean the average over contexts. On a box of
    contexts, the first context is the lower corner.
    """
    if not setting.has_contexts:
        return setting
    contexts = setting.decisions.contexts
    assert contexts is not None
    kernel = None if setting.kernel is None else InContext(setting.kernel, contexts[0].tolist())
    mean = setting.prior_mean
    if isinstance(mean, np.ndarray) and mean.ndim:
        mean = mean.reshape(len(contexts), -1).mean(axis=0)
    profile = setting.noise_profile
    if profile is not None:
        profile = profile.reshape(len(contexts), -1).max(axis=0)
    return replace(
        setting,
        contexts=None,
        context_low=None,
        context_high=None,
        kernel=kernel,
        prior_mean=mean,
        noise_profile=profile,
    )


class InContext(Kernel):
    """k(x, x') = kernel((z, x), (z, x')) at a fixed context z, (dz,), without free hyperparameters."""

    maps_features = True  # it is as definite as the kernel that it maps features for

    def __init__(self, kernel: Kernel, context: list[float]):
        self.kernel = kernel
        self.context = context

    def __call__(self, X: Floats, Y: Floats | None = None, eval_gradient: bool = False) -> Any:
        covariance: Any = self.kernel(self._joined(X), None if Y is None else self._joined(Y))
        return (covariance, np.empty((*covariance.shape, 0))) if eval_gradient else covariance

    def diag(self, X: Floats) -> Any:
        """Return variances, (n, d) -> (n,)."""
        return self.kernel.diag(self._joined(X))

    def is_stationary(self) -> Any:
        """Return True if the inner kernel depends on differences alone."""
        return self.kernel.is_stationary()

    def __repr__(self) -> str:
        return f"InContext({self.kernel!r}, {self.context})"

    def _joined(self, arms: Floats) -> Floats:
        arms = np.asarray(arms)
        return np.hstack([np.tile(self.context, (len(arms), 1)), arms])
