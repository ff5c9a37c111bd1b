"""Widths for draws of the prior: on finitely many points, on a box (Srinivas et al. 2010, Theorems 1, 2)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from math import pi
from typing import Any

import numpy as np
from scipy.special import gamma, kv
from scipy.stats import qmc
from sklearn.gaussian_process.kernels import Kernel

from bandit_envs.basics.arguments import require_at_least_one, require_positive, require_probability
from bandit_envs.basics.types import Floats, Ints

from ..kernels.amplitude import smoothness, split_amplitude
from .base import elementwise, log, sqrt

MIN_DISTANCE = 1e-8  # Bessel functions diverge at 0; the correlations have converged here


@dataclass(frozen=True)
class FiniteSetWidth:
    """sqrt(beta_t), beta_t = 2 log(|D| t^2 pi^2 / (6 delta)) (Srinivas et al. 2010, Theorem 1).

    It holds for f drawn from the prior, with lambda the true variance of Gaussian noise.

    Args:
        size: number of points |D|; with contexts, of (context, arm) pairs.
        delta: probability that the band fails to contain f at some point and round.
        scale: factor of beta_t; the paper's experiments use 1/5, which loses the guarantee.
    """

    size: int
    delta: float = 0.1
    scale: float = 1.0

    def __post_init__(self) -> None:
        require_at_least_one("size", self.size, "it is the number of points")
        require_probability("delta", self.delta)
        require_positive("scale", self.scale, "use 1 for the theorem, 1/5 for the paper's experiments")

    @elementwise
    def __call__(self, t: Any, gain: Floats) -> Any:
        return sqrt(self.scale * (self._union + 4.0 * log(t)))  # log t^2 = 2 log t

    @cached_property
    def _union(self) -> float:
        """2 log(|D| pi^2 / (6 delta))."""
        return 2.0 * log(self.size * pi**2 / (6.0 * self.delta))


@dataclass(frozen=True)
class CompactWidth:
    """Srinivas et al. (2010), Theorem 2: the width for f drawn from the prior on [0, r]^d.

    beta_t = 2 log(t^2 2 pi^2 / (3 delta)) + 2 d log(t^2 d b r sqrt(log(4 d a / delta))).

    Args:
        dim, diameter: d, and the length r of the box's longest side.
        a, b: every partial derivative has P(sup |d_j f| > L) <= a exp(-(L / b)^2), see
            `derivative_constants`.
        delta: probability that the regret bound fails.
        scale: factor of beta_t; other values than 1 lose the guarantee.
    """

    dim: int
    diameter: float
    a: float
    b: float
    delta: float = 0.1
    scale: float = 1.0

    def __post_init__(self) -> None:
        require_at_least_one("dim", self.dim, "it is the number of dimensions")
        require_positive("diameter", self.diameter, "it is the length of the box's longest side")
        require_at_least_one("a", self.a, "derivatives exceed 0 with probability 1; use derivative_constants")
        require_positive("b", self.b, "use derivative_constants")
        require_probability("delta", self.delta)
        require_positive("scale", self.scale, "use 1 for the theorem")

    @classmethod
    def for_kernel(
        cls, kernel: Kernel, bounds: Floats, delta: float = 0.1, scale: float = 1.0
    ) -> CompactWidth:
        """Return the width for draws of a kernel's process on a box of bounds (d, 2)."""
        a, b = derivative_constants(kernel, covering(bounds))
        return cls(len(bounds), float(np.ptp(bounds, axis=1).max()), a, b, delta, scale)

    def __call__(self, t: Ints, gain: Floats) -> Floats:
        square = t**2
        point = 2.0 * np.log(2.0 * np.pi**2 / (3.0 * self.delta) * square)
        # The proof's grid has `_cells * t^2` points a side; it needs at least one.
        grid = 2.0 * self.dim * np.log(np.maximum(self._cells * square, 1.0))
        return np.sqrt(self.scale * (point + grid))

    @cached_property
    def _cells(self) -> float:
        """D b r sqrt(log(4 d a / delta))."""
        root = math.sqrt(math.log(4 * self.dim * self.a / self.delta))
        return self.dim * self.b * self.diameter * root


def derivative_constants(
    kernel: Kernel, points: Floats, num_draws: int = 1000, seed: int = 0
) -> tuple[float, float]:
    """Return (a, b) with P(sup |d_j f| > L) <= a exp(-(L / b)^2) for every j and draws f of the process.

    With l_k the std of d_j f and E = E sup |d_j f|, Borell's inequality gives P(sup > L) <= exp(-(L - E)^2 /
    (2 l_k^2)) <= a exp(-(L / b)^2), b = 2 l_k, a = 2 exp(E^2 / (2 l_k^2)). The kernel is squared exponential
    or Matern with nu > 1, and the supremum is taken on points that cover the decision set, (n, d).
    """
    rng = np.random.default_rng(seed)
    ratio, deviation = [], []
    for j in range(points.shape[1]):
        covariance = derivative_covariance(kernel, points, j)
        values, vectors = np.linalg.eigh(covariance)
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        supremum = np.abs(root @ rng.standard_normal((len(points), num_draws))).max(axis=0)
        deviation.append(math.sqrt(covariance[0, 0]))
        ratio.append(supremum.mean() / deviation[-1])
    return 2.0 * math.exp(max(ratio) ** 2 / 2.0), 2.0 * max(deviation)


def derivative_covariance(kernel: Kernel, points: Floats, j: int) -> Floats:
    """Return the covariance of d_j f between points, (n, d) -> (n, n).

    For k = h(s), s the scaled distance, it is (u - v (x_j - y_j)^2 / l_j^2) / l_j^2, u = -h'/s, v = -u'/s.
    """
    variance, shape = split_amplitude(kernel)
    nu = _differentiable(kernel, smoothness(shape))
    scale = np.full(points.shape[1], shape.get_params()["length_scale"], dtype=np.float64)
    difference = (points[:, None, :] - points[None, :, :]) / scale
    distance = np.maximum(np.sqrt((difference**2).sum(axis=2)), MIN_DISTANCE)
    first, second = _slopes(distance, nu)
    return variance * (first - second * difference[:, :, j] ** 2) / scale[j] ** 2


def covering(bounds: Floats, num_points: int = 512) -> Floats:
    """Spread points evenly over a box of bounds (d, 2) -> (num_points, d); a power of two is best."""
    unit = qmc.Sobol(len(bounds), scramble=False).random(num_points)
    return bounds[:, 0] + unit * np.ptp(bounds, axis=1)


def _slopes(distance: Floats, nu: float) -> tuple[Floats, Floats]:
    """Return u and v of `derivative_covariance`; with nu infinite both are the kernel itself.

    A Matern kernel is c z^nu K_nu(z), z = sqrt(2 nu) s, c = 2^(1 - nu) / Gamma(nu), and (z^nu K_nu)' is
    -z^nu K_{nu-1}, so that u = 2 nu c z^(nu-1) K_{nu-1}(z) and v = (2 nu)^2 c z^(nu-2) K_{nu-2}(z).
    """
    if math.isinf(nu):
        value = np.exp(-(distance**2) / 2.0)
        return value, value
    z = math.sqrt(2.0 * nu) * distance
    factor = 2.0 ** (1.0 - nu) / gamma(nu) * 2.0 * nu
    return factor * z ** (nu - 1) * kv(nu - 1, z), 2.0 * nu * factor * z ** (nu - 2) * kv(nu - 2, z)


def _differentiable(kernel: Kernel, nu: float | None) -> float:
    if nu is None or nu <= 1.0:
        raise ValueError(
            "derivatives are known for the squared exponential and Matern kernels with nu > 1, "
            f"got {kernel!r}; pass a and b yourself, or use FiniteSetWidth on a finite set"
        )
    return nu
