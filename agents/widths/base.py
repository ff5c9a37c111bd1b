"""The width of a confidence band: tuned constants, and widths for draws of the prior on points or a box.

Of one trial the formulas are computed with numbers, not with arrays of one entry: the operations are the
same in the same order, and take a sixth of the time.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, wraps
from math import pi
from typing import Annotated, Any, Protocol, Self, runtime_checkable

import numpy as np
from scipy.special import gamma, kv
from scipy.stats import qmc
from sklearn.gaussian_process.kernels import Kernel

from bandit_envs.basics.options import (
    PER_TRIAL,
    Checked,
    PerTrial,
    at_least_one,
    count,
    not_negative,
    positive,
    probability,
)
from bandit_envs.basics.types import Floats, Ints

from ..kernels.amplitude import smoothness, split_amplitude

NUMBER = float, int
ONE = np.array(1)  # an array: a number would be converted in every round
PAPER_CONSTANT = 0.02
NUM_DRAWS = 1000  # from which a supremum is estimated
MIN_DISTANCE = 1e-8  # Bessel functions diverge at 0; the correlations have converged here
Value = Annotated[float, PER_TRIAL, not_negative("a width and an information gain are at least 0")]
Bound = Annotated[PerTrial, not_negative("it bounds the RKHS norm of the mean reward")]
NoiseStd = Annotated[PerTrial, not_negative("it bounds the sub-Gaussian noise")]
NoiseVariance = Annotated[PerTrial, positive("it is the noise variance lambda that the model assumes")]
Deltas = Annotated[float, PER_TRIAL, probability("give a failure probability such as 0.1")]
Scale = Annotated[float, PER_TRIAL, positive("use 1 for the theorem, and the paper's for its experiments")]
Dim = Annotated[int, count("it is the number of features of a point")]
Failures = Annotated[int, count("use 1 for IGP-UCB, 2 for GP-TS, and twice that under delays")]


@runtime_checkable
class Width(Protocol):
    """Function that gives the half-width of the confidence band in posterior stds."""

    def __call__(self, t: Ints, gain: Floats) -> Floats:
        """Return w_t of round t = 1, 2, ... given the gain g_{t-1} before the round, (B,) each -> (B,)."""
        ...


def elementwise(formula: Callable[..., Any]) -> Callable[..., Floats]:
    """Decorate a method that is a formula of one array, (B,) -> (B,), with this module's functions."""

    @wraps(formula)
    def values(self: Any, given: Floats | Ints, *others: Any) -> Floats:
        if len(given) > 1:
            return formula(self, given, *others)
        return np.array(formula(self, given.item(), *others), ndmin=1)  # a parameter may have shape (1,)

    return values


def log(value: Any) -> Any:
    """Return the natural logarithm of a number or of each entry."""
    return math.log(value) if isinstance(value, NUMBER) else np.log(value)


def sqrt(value: Any) -> Any:
    """Return the square root of a number or of each entry."""
    return math.sqrt(value) if isinstance(value, float) else np.sqrt(value)


@dataclass(frozen=True)
class FixedWidth(Checked):
    """A constant width w, for which nothing is proved."""

    value: Value = 1.0

    def __call__(self, t: Ints, gain: Floats) -> Floats:
        return np.full(t.shape, self.value, dtype=np.float64)


def mean_width(count: int) -> float:
    """Return sqrt(2 + 2 log(N / 2)), the root of the mean of zeta: a constant width without a regret bound.

    With a known arm of value 0, an unknown arm whose first values are low is never played again, at the loss
    of its mean in every round (arXiv 2409.00979 shows that expected regret can be linear).
    """
    return math.sqrt(2.0 + 2.0 * math.log(count / 2.0))


@dataclass(frozen=True)
class LogarithmicWidth(Checked):
    """sqrt(beta_t), beta_t = scale log(factor t) (Bogunovic et al. 2016, section 5: 0.8 log(4 t))."""

    scale: Scale = 0.8
    factor: Annotated[float, PER_TRIAL, at_least_one("the paper uses 4")] = 4.0

    def __call__(self, t: Ints, gain: Floats) -> Floats:
        return np.sqrt(self.scale * np.log(self.factor * t))


@dataclass(frozen=True)
class ChangePointWidth(Checked):
    """sqrt(beta_t), beta_t = D t^(d(d+1) / (2a + d(d+1))) log^4 T (Avanesov 2020, equation 3.7).

    t counts the plays since the last restart, before this one; T is the horizon of the whole run; a is the nu
    of a Matern kernel, or inf; and D is 0.02 in the paper's experiments.
    """

    horizon: Annotated[int, count("it is the number of rounds of the whole run")]
    dim: Dim
    smoothness: Annotated[float, positive("inf is for SE kernels", infinite=True)] = 2.5
    constant: Annotated[float, PER_TRIAL, not_negative("it is D; the paper takes 0.02")] = PAPER_CONSTANT

    def __call__(self, t: Ints, gain: Floats) -> Floats:
        order = self.dim * (self.dim + 1)
        power = order / (2.0 * self.smoothness + order)
        beta = self.constant * (t - 1.0) ** power * math.log(self.horizon) ** 4
        return np.sqrt(beta)


@dataclass(frozen=True)
class KernelUCBWidth(Checked):
    """eta / sqrt(lambda), lambda in squares of the prior std, the width of KernelUCB (Valko et al. 2013)."""

    eta: Annotated[float, PER_TRIAL, not_negative("it multiplies a standard deviation")]
    noise_variance: NoiseVariance

    def __call__(self, t: Ints, gain: Floats) -> Floats:
        return np.full(t.shape, self.eta / np.sqrt(self.noise_variance), dtype=np.float64)


@dataclass(frozen=True)
class FiniteSetWidth(Checked):
    """sqrt(beta_t), beta_t = 2 log(|D| t^2 pi^2 / (6 delta)) (Srinivas et al. 2010, Theorem 1).

    It holds for f drawn from the prior, with lambda the true variance of Gaussian noise.

    Args:
        size: number of points |D|; with contexts, of (context, arm) pairs.
        delta: probability that the band fails to contain f at some point and round.
        scale: factor of beta_t; the paper's experiments use 1/5, which loses the guarantee.
    """

    size: Annotated[int, count("it is the number of points")]
    delta: Deltas = 0.1
    scale: Scale = 1.0

    @elementwise
    def __call__(self, t: Any, gain: Floats) -> Any:
        return sqrt(self.scale * (self._union + 4.0 * log(t)))  # log t^2 = 2 log t

    @cached_property
    def _union(self) -> float:
        """2 log(|D| pi^2 / (6 delta))."""
        return 2.0 * log(self.size * pi**2 / (6.0 * self.delta))


@dataclass(frozen=True)
class OnBox(Checked):
    """How far draws of a prior vary on [0, r]^d.

    Args:
        dim, diameter: d, and the length r of the box's longest side.
        a, b: every partial derivative has P(sup |d_j f| > L) <= a exp(-(L / b)^2), see
            `derivative_constants`.
    """

    dim: Dim
    diameter: Annotated[float, positive("it is the length of the box's longest side")]
    a: Annotated[float, at_least_one("derivatives exceed 0 with probability 1; use derivative_constants")]
    b: Annotated[float, positive("use derivative_constants")]

    @classmethod
    def for_kernel(cls, kernel: Kernel, bounds: Floats, **others: float) -> Self:
        """Return that of draws of a kernel's process on a box of bounds (d, 2)."""
        a, b = derivative_constants(kernel, covering(bounds))
        return cls(len(bounds), float(np.ptp(bounds, axis=1).max()), a, b, **others)


@dataclass(frozen=True)
class CompactWidth(OnBox):
    """Srinivas et al. (2010), Theorem 2: the width for f drawn from the prior on [0, r]^d.

    beta_t = 2 log(t^2 2 pi^2 / (3 delta)) + 2 d log(t^2 d b r sqrt(log(4 d a / delta))).

    Args:
        delta: probability that the regret bound fails.
        scale: factor of beta_t; other values than 1 lose the guarantee.
    """

    delta: Deltas = 0.1
    scale: Scale = 1.0

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


def derivative_constants(kernel: Kernel, points: Floats) -> tuple[float, float]:
    """Return (a, b) with P(sup |d_j f| > L) <= a exp(-(L / b)^2) for every j and draws f of the process.

    With l_k the std of d_j f and E = E sup |d_j f|, Borell's inequality gives P(sup > L) <= exp(-(L - E)^2 /
    (2 l_k^2)) <= a exp(-(L / b)^2), b = 2 l_k, a = 2 exp(E^2 / (2 l_k^2)). The kernel is squared exponential
    or Matern with nu > 1, and the supremum is taken on points that cover the decision set, (n, d).
    """
    rng = np.random.default_rng(0)
    ratio, deviation = [], []
    for j in range(points.shape[1]):
        covariance = derivative_covariance(kernel, points, j)
        values, vectors = np.linalg.eigh(covariance)
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        supremum = np.abs(root @ rng.standard_normal((len(points), NUM_DRAWS))).max(axis=0)
        deviation.append(math.sqrt(covariance[0, 0]))
        ratio.append(supremum.mean() / deviation[-1])
    return 2.0 * math.exp(max(ratio) ** 2 / 2.0), 2.0 * max(deviation)


def derivative_covariance(kernel: Kernel, points: Floats, j: int) -> Floats:
    """Return the covariance of d_j f between points, (n, d) -> (n, n).

    For k = h(s), s the scaled distance, it is (u - v (x_j - y_j)^2 / l_j^2) / l_j^2, u = -h'/s, v = -u'/s.
    """
    variance, shape = split_amplitude(kernel)
    nu = smoothness(shape)
    if nu is None or nu <= 1.0:
        raise ValueError(
            "derivatives are known for the squared exponential and Matern kernels with nu > 1, "
            f"got {kernel!r}; pass a and b yourself, or use FiniteSetWidth on a finite set"
        )
    scale = np.full(points.shape[1], shape.get_params()["length_scale"], dtype=np.float64)
    difference = (points[:, None, :] - points[None, :, :]) / scale
    distance = np.maximum(np.sqrt((difference**2).sum(axis=2)), MIN_DISTANCE)
    first, second = _slopes(distance, nu)
    return variance * (first - second * difference[:, :, j] ** 2) / scale[j] ** 2


def covering(bounds: Floats) -> Floats:
    """Spread 512 points evenly over a box of bounds (d, 2) -> (512, d)."""
    unit = qmc.Sobol(len(bounds), scramble=False).random(512)
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
