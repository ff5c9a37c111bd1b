"""Kernels between points and plays, with derivatives of weighted sums in the points and the hyperparameters.

A stationary kernel is a function of the squared scaled distance: with q = sum_d (x_d - x'_d)^2 / l_d^2 and
k = h(q), every slope follows from c = 2 h'(q):

    dk/dx_d = c (x_d - x'_d) / l_d^2,    dk/dlog l_d = -c (x_d - x'_d)^2 / l_d^2.

The derivatives are never formed as (n, k, D) or (n, n, p) arrays: callers need sum_k w_ik dk(x_i, X_k)/dx_i,
two matrix products for a stationary kernel, and sum_ij w_ij dK_ij/dtheta, little more than K itself
(benchmarks/box_optimisation.py has figures). Both compose through sums and products.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.gaussian_process import kernels
from sklearn.gaussian_process.kernels import Kernel

from bandit_envs.basics.types import Floats
from bandit_envs.kernels.kernels import OnColumns

STEP = 1e-6  # of finite differences, in units of the largest feature; the error is of the order 1e-10


# h(q) and c = 2 h'(q) at squared scaled distances; c is 0 at the kink of the Matern kernel of order 1/2.
Form = Callable[[Floats], tuple[Floats, Floats]]


def squared_exponential(q: Floats) -> tuple[Floats, Floats]:
    """exp(-q / 2)."""
    values = np.exp(-0.5 * q)
    return values, -values


def matern_one_half(q: Floats) -> tuple[Floats, Floats]:
    """exp(-s), s = sqrt q."""
    s = np.sqrt(q)
    values = np.exp(-s)
    return values, -np.divide(values, s, out=np.zeros_like(s), where=s > 0.0)


def matern_three_halves(q: Floats) -> tuple[Floats, Floats]:
    """(1 + a) exp(-a), a = sqrt(3 q)."""
    a = np.sqrt(3.0 * q)
    decay = np.exp(-a)
    return (1.0 + a) * decay, -3.0 * decay


def matern_five_halves(q: Floats) -> tuple[Floats, Floats]:
    """(1 + a + a^2 / 3) exp(-a), a = sqrt(5 q); in place, which on large tables is twice as fast."""
    a = np.sqrt(5.0 * q)
    decay = np.exp(-a)
    values, slope = a * a, a
    slope += 1.0
    values /= 3.0
    values += slope
    values *= decay
    slope *= -5.0 / 3.0
    slope *= decay
    return values, slope


MATERN: dict[float, Form] = {
    0.5: matern_one_half,
    1.5: matern_three_halves,
    2.5: matern_five_halves,
    math.inf: squared_exponential,
}


def form_of(kernel: Kernel) -> Form | None:
    """Return a stationary kernel as a function of q, or None for kernels without a formula here.

    Types are compared exactly, because a derived class may compute something else.
    """
    if type(kernel) is kernels.Matern:
        return MATERN.get(float(kernel.nu))
    if type(kernel) is kernels.RBF:
        return squared_exponential
    if type(kernel) is kernels.RationalQuadratic:
        return lambda q: _rational_quadratic(q, float(kernel.alpha))
    return None


def squared_distances(x: Floats, y: Floats, length_scale: Floats | float) -> Floats:
    """Return q between points, (n, D) and (k, D) -> (n, k); the length-scale is a number or (D,)."""
    return np.asarray(cdist(x / length_scale, y / length_scale, "sqeuclidean"), dtype=np.float64)


def _rational_quadratic(q: Floats, alpha: float) -> tuple[Floats, Floats]:
    """(1 + q / (2 alpha))^-alpha."""
    base = 1.0 + q / (2.0 * alpha)
    values = base**-alpha
    return values, -values / base


def _none(weight: Floats) -> Floats:
    raise NotImplementedError("these slopes are computed for other points")


class Linearised(NamedTuple):
    """k(x, X), its derivatives in x, and where X is x those in the logarithms theta of hyperparameters."""

    values: Floats  # (n, k)
    gradient: Callable[[Floats], Floats]  # weights (n, k) -> sum_k w dk/dx, (n, D)
    in_theta: Callable[[Floats], Floats] = _none  # symmetric weights (n, n) -> sum_ij w dK/dtheta, (p,)


def linearise(kernel: Any, x: Floats, plays: Floats, own: bool = False) -> Linearised:
    """Return a kernel between distinct points, (n, D) and (k, D), analytic where its form is known.

    With `own` it is that of the same points among themselves.
    """
    if type(kernel) in RULES:
        return RULES[type(kernel)](kernel, x, plays, own)
    return _stationary(kernel, x, plays) if form_of(kernel) else _other(kernel, x, plays, own)


def in_theta(kernel: Kernel, x: Floats) -> tuple[Floats, Callable[[Floats], Floats]]:
    """Return the covariance of points, (n, D), and its derivatives, by a formula or else by scikit-learn."""
    values, _, slopes = linearise(kernel, x, x, own=True)
    return values, slopes


def prior_variance(kernel: Kernel, x: Floats) -> tuple[Floats, Floats]:
    """Return k(x, x) and its slopes in x, (n, D) -> (n,) and (n, D): twice the slope in one of the points."""
    variance = np.asarray(kernel.diag(x), dtype=np.float64)
    if kernel.is_stationary():
        return variance, np.zeros_like(x)
    return variance, linearise(kernel, x, x).gradient(2.0 * np.eye(len(x)))


def _stationary(kernel: Any, x: Floats, plays: Floats) -> Linearised:
    form = form_of(kernel)
    assert form is not None
    scale = np.asarray(kernel.length_scale, dtype=np.float64)
    squares = squared_distances(x, plays, scale)
    values, slope = form(squares)

    def gradient(weight: Floats) -> Floats:
        steepness = weight * slope
        return (steepness.sum(axis=1)[:, None] * x - steepness @ plays) / scale**2

    def in_theta(weight: Floats) -> Floats:
        if type(kernel) is kernels.RationalQuadratic:
            base = 1.0 + squares / (2.0 * kernel.alpha)
            of_alpha = values * (squares / (2.0 * base) - kernel.alpha * np.log(base))
            free = {"alpha": of_alpha, "length_scale": -slope * squares}
            fixed = {each.name: each.fixed for each in kernel.hyperparameters}
            return np.array([(weight * free[name]).sum() for name in free if not fixed[name]])
        if _fixed(kernel.length_scale_bounds):
            return np.zeros(0)
        steepness = weight * slope
        if not kernel.anisotropic:
            return -np.array([(steepness * squares).sum()])
        centred = (x - x.mean(axis=0)) / scale  # the two terms would cancel far from the origin
        total = steepness.sum(axis=1) @ centred**2
        return -2.0 * (total - np.einsum("nd,nd->d", centred, steepness @ centred))

    return Linearised(values, gradient, in_theta)


def _constant(kernel: Any, x: Floats, plays: Floats, own: bool) -> Linearised:
    value, free = float(kernel.constant_value), not _fixed(kernel.constant_value_bounds)
    return Linearised(
        np.full((len(x), len(plays)), value),
        lambda weight: np.zeros_like(x),
        lambda weight: np.array([value * weight.sum()] if free else []),
    )


def _white(kernel: Any, x: Floats, plays: Floats, own: bool) -> Linearised:
    value, free = float(kernel.noise_level), not _fixed(kernel.noise_level_bounds)
    values = value * np.eye(len(x)) if own else np.zeros((len(x), len(plays)))
    return Linearised(
        values,
        lambda weight: np.zeros_like(x),
        lambda weight: np.array([value * np.trace(weight)] if free else []),
    )


def _linear(kernel: Any, x: Floats, plays: Floats, own: bool) -> Linearised:
    if own:
        return _other(kernel, x, plays, own)
    return Linearised(x @ plays.T + kernel.sigma_0**2, lambda weight: weight @ plays)


def _sum(kernel: Any, x: Floats, plays: Floats, own: bool) -> Linearised:
    first, second = (linearise(part, x, plays, own) for part in (kernel.k1, kernel.k2))
    return Linearised(
        first.values + second.values,
        lambda weight: first.gradient(weight) + second.gradient(weight),
        lambda weight: np.concatenate([first.in_theta(weight), second.in_theta(weight)]),
    )


def _product(kernel: Any, x: Floats, plays: Floats, own: bool) -> Linearised:
    if type(kernel.k1) is kernels.ConstantKernel:
        return _scaled(kernel.k1, linearise(kernel.k2, x, plays, own))
    if type(kernel.k2) is kernels.ConstantKernel and not own:  # hyperparameters have an order
        return _scaled(kernel.k2, linearise(kernel.k1, x, plays))
    first, second = (linearise(part, x, plays, own) for part in (kernel.k1, kernel.k2))

    def split(weight: Floats) -> tuple[Floats, Floats]:
        return weight * second.values, weight * first.values

    def gradient(weight: Floats) -> Floats:
        of_first, of_second = split(weight)
        return first.gradient(of_first) + second.gradient(of_second)

    def in_theta(weight: Floats) -> Floats:
        of_first, of_second = split(weight)
        return np.concatenate([first.in_theta(of_first), second.in_theta(of_second)])

    return Linearised(first.values * second.values, gradient, in_theta)


def _scaled(constant: Any, shape: Linearised) -> Linearised:
    variance, free = float(constant.constant_value), not _fixed(constant.constant_value_bounds)
    values = variance * shape.values

    def in_theta(weight: Floats) -> Floats:
        own = [float((weight * values).sum())] if free else []
        return np.concatenate([own, variance * shape.in_theta(weight)])

    return Linearised(values, lambda weight: variance * shape.gradient(weight), in_theta)


def _power(kernel: Any, x: Floats, plays: Floats, own: bool) -> Linearised:
    if own:
        return _other(kernel, x, plays, own)
    base, exponent = linearise(kernel.kernel, x, plays), kernel.exponent
    slope = exponent * base.values ** (exponent - 1)
    return Linearised(base.values**exponent, lambda weight: base.gradient(weight * slope))


def _on_columns(kernel: Any, x: Floats, plays: Floats, own: bool) -> Linearised:
    columns = list(kernel.columns)
    inner = linearise(kernel.kernel, x[:, columns], plays[:, columns], own)

    def gradient(weight: Floats) -> Floats:
        slope = np.zeros_like(x)
        slope[:, columns] = inner.gradient(weight)
        return slope

    return Linearised(inner.values, gradient, inner.in_theta)


def _other(kernel: Any, x: Floats, plays: Floats, own: bool) -> Linearised:
    """Return scikit-learn's slopes in theta, and in the points finite differences."""
    if own:
        values, slopes = kernel(x, eval_gradient=True)
        return Linearised(np.asarray(values), _none, lambda weight: np.einsum("ij,ijp->p", weight, slopes))
    step = STEP * max(1.0, float(np.abs(x).max(initial=0.0)))

    def gradient(weight: Floats) -> Floats:
        slope = np.empty_like(x)
        for j, shift in enumerate(step * np.eye(x.shape[1])):
            change = np.asarray(kernel(x + shift, plays)) - np.asarray(kernel(x - shift, plays))
            slope[:, j] = (weight * change).sum(axis=1) / (2.0 * step)
        return slope

    return Linearised(np.asarray(kernel(x, plays), dtype=np.float64), gradient)


RULES: dict[type[Kernel], Callable[[Any, Floats, Floats, bool], Linearised]] = {
    kernels.ConstantKernel: _constant,
    kernels.WhiteKernel: _white,
    kernels.DotProduct: _linear,
    kernels.Sum: _sum,
    kernels.Product: _product,
    kernels.Exponentiation: _power,
    OnColumns: _on_columns,
}


def with_theta(kernel: Kernel, theta: Floats) -> Kernel:
    """Return `kernel.clone_with_theta(theta)`, for kernels with a rule here in a tenth of its time."""
    return _taken(kernel, theta)[0]


def _taken(kernel: Any, theta: Floats) -> tuple[Kernel, Floats]:
    """Return the kernel with the first logarithms of `theta` as its own, and the remaining ones."""
    if type(kernel) in (kernels.Product, kernels.Sum):
        first, rest = _taken(kernel.k1, theta)
        second, rest = _taken(kernel.k2, rest)
        return type(kernel)(first, second), rest
    if type(kernel) not in OF_ONE:
        own: int = kernel.n_dims
        return kernel.clone_with_theta(theta[:own]), theta[own:]
    name, *others = OF_ONE[type(kernel)]
    value, bounds = getattr(kernel, name), getattr(kernel, f"{name}_bounds")
    size = 0 if _fixed(bounds) else np.size(value)
    if size:
        value = np.exp(theta[:size]) if size > 1 else np.exp(theta[:1])[0]
    return type(kernel)(value, bounds, *(getattr(kernel, other) for other in others)), theta[size:]


def _fixed(bounds: Any) -> bool:
    """Return whether bounds are "fixed"; scikit-learn's own record of a hyperparameter takes longer."""
    return isinstance(bounds, str)


# The hyperparameter of a kernel, and its other arguments.
OF_ONE: dict[type[Kernel], tuple[str, ...]] = {
    kernels.ConstantKernel: ("constant_value",),
    kernels.WhiteKernel: ("noise_level",),
    kernels.RBF: ("length_scale",),
    kernels.Matern: ("length_scale", "nu"),
}
