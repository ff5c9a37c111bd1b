r"""Stationary kernels of scikit-learn as functions of the squared scaled distance, with their slopes.

With q = sum_d (x_d - x'_d)^2 / l_d^2 and k = h(q), every slope follows from c = 2 h'(q):

    dk/dx_d = c (x_d - x'_d) / l_d^2,    dk/dlog l_d = -c (x_d - x'_d)^2 / l_d^2.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.gaussian_process.kernels import RBF, Kernel, Matern, RationalQuadratic

from bandit_envs.basics.types import Floats


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
    if type(kernel) is Matern:
        return MATERN.get(float(kernel.nu))
    if type(kernel) is RBF:
        return squared_exponential
    if type(kernel) is RationalQuadratic:
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
