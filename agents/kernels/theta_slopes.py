"""A kernel between plays, and its slopes in the logarithms of its hyperparameters.

scikit-learn returns the derivatives as an (n, n, p) array; a likelihood needs sum_ij w_ij dK_ij/dtheta, which
for the common kernels costs little more than K itself (benchmarks/box_optimisation.py has figures).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.gaussian_process import kernels
from sklearn.gaussian_process.kernels import Kernel

from bandit_envs.basics.types import Floats
from bandit_envs.kernels.kernels import OnColumns

from .point_slopes import form_of, squared_distances


class Taken(NamedTuple):
    """A kernel, and the hyperparameters that remain for others."""

    kernel: Kernel
    rest: Floats


def with_theta(kernel: Kernel, theta: Floats) -> Kernel:
    """Return `kernel.clone_with_theta(theta)`, for kernels with a rule here in a tenth of its time."""
    return _take(kernel, theta).kernel


def _take(kernel: Any, theta: Floats) -> Taken:
    """Return the kernel with the first logarithms of `theta` as its own, and the remaining ones."""
    if type(kernel) in CLONES:
        return CLONES[type(kernel)](kernel, theta)
    own: int = kernel.n_dims
    return Taken(kernel.clone_with_theta(theta[:own]), theta[own:])


def _one(kernel: Any, theta: Floats, name: str, *others: str) -> Taken:
    """Return a kernel of one hyperparameter with a new value; its other arguments stay."""
    bounds = getattr(kernel, f"{name}_bounds")
    value, rest = _value(getattr(kernel, name), bounds, theta)
    return Taken(type(kernel)(value, bounds, *(getattr(kernel, other) for other in others)), rest)


def _pair(kernel: Any, theta: Floats) -> Taken:
    first, rest = _take(kernel.k1, theta)
    second, rest = _take(kernel.k2, rest)
    return Taken(type(kernel)(first, second), rest)


def _value(now: Any, bounds: Any, theta: Floats) -> tuple[Any, Floats]:
    """Return the new value of a hyperparameter, a number or (n,), and the remaining logarithms."""
    if _fixed(bounds):
        return now, theta
    size = np.size(now)
    new = np.exp(theta[:size])
    return (new if size > 1 else new[0]), theta[size:]


def _fixed(bounds: Any) -> bool:
    """Return whether bounds are "fixed"; scikit-learn's own record of a hyperparameter takes longer."""
    return isinstance(bounds, str)


CLONES: dict[type[Kernel], Callable[[Any, Floats], Taken]] = {
    kernels.ConstantKernel: lambda kernel, theta: _one(kernel, theta, "constant_value"),
    kernels.WhiteKernel: lambda kernel, theta: _one(kernel, theta, "noise_level"),
    kernels.RBF: lambda kernel, theta: _one(kernel, theta, "length_scale"),
    kernels.Matern: lambda kernel, theta: _one(kernel, theta, "length_scale", "nu"),
    kernels.Product: _pair,
    kernels.Sum: _pair,
}


class InTheta(NamedTuple):
    """K and its derivatives in theta, the logarithms of the free hyperparameters."""

    values: Floats  # (n, n)
    gradient: Callable[[Floats], Floats]  # symmetric weights (n, n) -> sum_ij w dK/dtheta, (p,)


def in_theta(kernel: Kernel, x: Floats) -> InTheta:
    """Return the covariance of points, (n, D), by a formula if there is one, else by scikit-learn."""
    if type(kernel) in RULES:
        return RULES[type(kernel)](kernel, x)
    if isinstance(kernel, kernels.RBF) and form_of(kernel):  # Matern is an RBF to scikit-learn
        return _stationary(kernel, x)
    values, slopes = kernel(x, eval_gradient=True)  # type: ignore[misc]
    return InTheta(np.asarray(values), lambda weight: np.einsum("ij,ijp->p", weight, slopes))


def _stationary(kernel: kernels.RBF, x: Floats) -> InTheta:
    form = form_of(kernel)
    assert form is not None
    scale = np.asarray(kernel.length_scale, dtype=np.float64)
    squares = squared_distances(x, x, scale)
    values, slope = form(squares)

    def gradient(weight: Floats) -> Floats:
        if _fixed(kernel.length_scale_bounds):
            return np.zeros(0)
        steepness = weight * slope
        if not kernel.anisotropic:
            return -np.array([(steepness * squares).sum()])
        centred = (x - x.mean(axis=0)) / scale  # the two terms would cancel far from the origin
        total = steepness.sum(axis=1) @ centred**2
        return -2.0 * (total - np.einsum("nd,nd->d", centred, steepness @ centred))

    return InTheta(values, gradient)


def _rational_quadratic(kernel: kernels.RationalQuadratic, x: Floats) -> InTheta:
    form = form_of(kernel)
    assert form is not None
    squares = squared_distances(x, x, float(kernel.length_scale))
    values, slope = form(squares)

    def gradient(weight: Floats) -> Floats:
        base = 1.0 + squares / (2.0 * kernel.alpha)
        of_alpha = values * (squares / (2.0 * base) - kernel.alpha * np.log(base))
        free = {"alpha": of_alpha, "length_scale": -slope * squares}
        fixed = {each.name: each.fixed for each in kernel.hyperparameters}
        return np.array([(weight * free[name]).sum() for name in free if not fixed[name]])

    return InTheta(values, gradient)


def _constant(kernel: kernels.ConstantKernel, x: Floats) -> InTheta:
    value = float(kernel.constant_value)
    fixed = _fixed(kernel.constant_value_bounds)

    def gradient(weight: Floats) -> Floats:
        return np.zeros(0) if fixed else np.array([value * weight.sum()])

    return InTheta(np.full((len(x), len(x)), value), gradient)


def _white(kernel: kernels.WhiteKernel, x: Floats) -> InTheta:
    value = float(kernel.noise_level)
    fixed = _fixed(kernel.noise_level_bounds)

    def gradient(weight: Floats) -> Floats:
        return np.zeros(0) if fixed else np.array([value * np.trace(weight)])

    return InTheta(value * np.eye(len(x)), gradient)


def _sum(kernel: kernels.Sum, x: Floats) -> InTheta:
    first, second = in_theta(kernel.k1, x), in_theta(kernel.k2, x)
    return InTheta(
        first.values + second.values,
        lambda weight: np.concatenate([first.gradient(weight), second.gradient(weight)]),
    )


def _product(kernel: kernels.Product, x: Floats) -> InTheta:
    if type(kernel.k1) is kernels.ConstantKernel:
        return _scaled(kernel.k1, in_theta(kernel.k2, x))
    first, second = in_theta(kernel.k1, x), in_theta(kernel.k2, x)

    def gradient(weight: Floats) -> Floats:
        return np.concatenate(
            [first.gradient(weight * second.values), second.gradient(weight * first.values)]
        )

    return InTheta(first.values * second.values, gradient)


def _scaled(constant: kernels.ConstantKernel, shape: InTheta) -> InTheta:
    variance = float(constant.constant_value)
    fixed = _fixed(constant.constant_value_bounds)
    values = variance * shape.values

    def gradient(weight: Floats) -> Floats:
        own = [] if fixed else [float((weight * values).sum())]
        return np.concatenate([own, variance * shape.gradient(weight)])

    return InTheta(values, gradient)


def _on_columns(kernel: OnColumns, x: Floats) -> InTheta:
    return in_theta(kernel.kernel, x[:, list(kernel.columns)])


RULES: dict[type[Kernel], Callable[[Kernel, Floats], InTheta]] = {  # type: ignore[assignment]
    kernels.RationalQuadratic: _rational_quadratic,
    kernels.ConstantKernel: _constant,
    kernels.WhiteKernel: _white,
    kernels.Sum: _sum,
    kernels.Product: _product,
    OnColumns: _on_columns,
}
