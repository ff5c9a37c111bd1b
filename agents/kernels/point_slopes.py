"""Kernels between points and plays, with derivatives of weighted sums in the points.

A stationary kernel is a function of the squared scaled distance: with q = sum_d (x_d - x'_d)^2 / l_d^2 and
k = h(q), every slope follows from c = 2 h'(q):

    dk/dx_d = c (x_d - x'_d) / l_d^2,    dk/dlog l_d = -c (x_d - x'_d)^2 / l_d^2.

The derivatives are never formed as an (n, k, D) array: callers need sum_k w_ik dk(x_i, X_k)/dx_i, which is
two matrix products for a stationary kernel and composes through sums, products and powers.
"""

from __future__ import annotations

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


class Form(NamedTuple):
    """A kernel at some squared scaled distances."""

    values: Floats  # h(q)
    slope: Floats  # c = 2 h'(q); 0 at the kink of the Matern kernel of order 1/2


def squared_exponential(q: Floats) -> Form:
    """exp(-q / 2)."""
    values = np.exp(-0.5 * q)
    return Form(values, -values)


def matern_one_half(q: Floats) -> Form:
    """exp(-s), s = sqrt q."""
    s = np.sqrt(q)
    values = np.exp(-s)
    return Form(values, -np.divide(values, s, out=np.zeros_like(s), where=s > 0.0))


def matern_three_halves(q: Floats) -> Form:
    """(1 + a) exp(-a), a = sqrt(3 q)."""
    a = np.sqrt(3.0 * q)
    decay = np.exp(-a)
    return Form((1.0 + a) * decay, -3.0 * decay)


def matern_five_halves(q: Floats) -> Form:
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
    return Form(values, slope)


MATERN: dict[float, Callable[[Floats], Form]] = {
    0.5: matern_one_half,
    1.5: matern_three_halves,
    2.5: matern_five_halves,
    math.inf: squared_exponential,
}


def form_of(kernel: Kernel) -> Callable[[Floats], Form] | None:
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


def _rational_quadratic(q: Floats, alpha: float) -> Form:
    """(1 + q / (2 alpha))^-alpha."""
    base = 1.0 + q / (2.0 * alpha)
    values = base**-alpha
    return Form(values, -values / base)


class Linearised(NamedTuple):
    """k(x, X) and its derivatives in x."""

    values: Floats  # (n, k)
    gradient: Callable[[Floats], Floats]  # weights (n, k) -> sum_k w dk/dx, (n, D)


def linearise(kernel: Kernel, x: Floats, plays: Floats) -> Linearised:
    """Return a kernel between distinct points, (n, D) and (k, D), analytic where its form is known."""
    if type(kernel) in RULES:
        return RULES[type(kernel)](kernel, x, plays)
    return _stationary(kernel, x, plays) if form_of(kernel) else _by_differences(kernel, x, plays)


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
    values, slope = form(squared_distances(x, plays, scale))

    def gradient(weight: Floats) -> Floats:
        steepness = weight * slope
        return (steepness.sum(axis=1)[:, None] * x - steepness @ plays) / scale**2

    return Linearised(values, gradient)


def _constant(kernel: Any, x: Floats, plays: Floats) -> Linearised:
    values = np.full((len(x), len(plays)), kernel.constant_value)
    return Linearised(values, lambda weight: np.zeros_like(x))


def _white(kernel: Kernel, x: Floats, plays: Floats) -> Linearised:
    return Linearised(np.zeros((len(x), len(plays))), lambda weight: np.zeros_like(x))


def _linear(kernel: Any, x: Floats, plays: Floats) -> Linearised:
    values = x @ plays.T + kernel.sigma_0**2
    return Linearised(values, lambda weight: weight @ plays)


def _sum(kernel: Kernel, x: Floats, plays: Floats) -> Linearised:
    first, second = _parts(kernel, x, plays)
    return Linearised(
        first.values + second.values, lambda weight: first.gradient(weight) + second.gradient(weight)
    )


def _product(kernel: Any, x: Floats, plays: Floats) -> Linearised:
    for constant, other in ((kernel.k1, kernel.k2), (kernel.k2, kernel.k1)):
        if type(constant) is kernels.ConstantKernel:
            return _scaled(float(constant.constant_value), linearise(other, x, plays))
    first, second = _parts(kernel, x, plays)
    return Linearised(
        first.values * second.values,
        lambda weight: first.gradient(weight * second.values) + second.gradient(weight * first.values),
    )


def _scaled(variance: float, shape: Linearised) -> Linearised:
    return Linearised(variance * shape.values, lambda weight: variance * shape.gradient(weight))


def _power(kernel: Any, x: Floats, plays: Floats) -> Linearised:
    base, exponent = linearise(kernel.kernel, x, plays), kernel.exponent
    slope = exponent * base.values ** (exponent - 1)
    return Linearised(base.values**exponent, lambda weight: base.gradient(weight * slope))


def _on_columns(kernel: Any, x: Floats, plays: Floats) -> Linearised:
    columns = list(kernel.columns)
    inner = linearise(kernel.kernel, x[:, columns], plays[:, columns])

    def gradient(weight: Floats) -> Floats:
        slope = np.zeros_like(x)
        slope[:, columns] = inner.gradient(weight)
        return slope

    return Linearised(inner.values, gradient)


def _by_differences(kernel: Kernel, x: Floats, plays: Floats) -> Linearised:
    step = STEP * max(1.0, float(np.abs(x).max(initial=0.0)))

    def gradient(weight: Floats) -> Floats:
        slope = np.empty_like(x)
        for j, shift in enumerate(step * np.eye(x.shape[1])):
            change = np.asarray(kernel(x + shift, plays)) - np.asarray(kernel(x - shift, plays))
            slope[:, j] = (weight * change).sum(axis=1) / (2.0 * step)
        return slope

    return Linearised(np.asarray(kernel(x, plays), dtype=np.float64), gradient)


def _parts(kernel: Any, x: Floats, plays: Floats) -> tuple[Linearised, Linearised]:
    return linearise(kernel.k1, x, plays), linearise(kernel.k2, x, plays)


RULES: dict[type[Kernel], Callable[[Kernel, Floats, Floats], Linearised]] = {
    kernels.ConstantKernel: _constant,
    kernels.WhiteKernel: _white,
    kernels.DotProduct: _linear,
    kernels.Sum: _sum,
    kernels.Product: _product,
    kernels.Exponentiation: _power,
    OnColumns: _on_columns,
}
