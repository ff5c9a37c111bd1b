"""The width of a confidence band, widths whose constants are tuned, and formulas of one number a trial.

Of one trial the formulas are computed with numbers, not with arrays of one entry: the operations are the
same in the same order, and take a sixth of the time.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, Protocol, runtime_checkable

import numpy as np

from bandit_envs.basics.arguments import require_at_least_one, require_not_negative, require_positive
from bandit_envs.basics.types import Floats, Ints

from ..validation import PerTrial

BOUND_REMEDY = "it bounds the RKHS norm of the mean reward"
NOISE_REMEDY = "it bounds the sub-Gaussian noise"
MODEL_REMEDY = "it is the noise variance lambda that the model assumes"
NUMBER = float, int
ONE = np.array(1)  # an array: a number would be converted in every round
PAPER_CONSTANT = 0.02


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
class FixedWidth:
    """A constant width w, for which nothing is proved."""

    value: float = 1.0

    def __post_init__(self) -> None:
        require_not_negative("value", self.value, "it multiplies a standard deviation")

    def __call__(self, t: Ints, gain: Floats) -> Floats:
        return np.full(t.shape, self.value, dtype=np.float64)


def mean_width(count: int) -> float:
    """Return sqrt(2 + 2 log(N / 2)), the root of the mean of zeta: a constant width without a regret bound.

    With a known arm of value 0, an unknown arm whose first values are low is never played again, at the loss
    of its mean in every round (arXiv 2409.00979 shows that expected regret can be linear).
    """
    return math.sqrt(2.0 + 2.0 * math.log(count / 2.0))


@dataclass(frozen=True)
class LogarithmicWidth:
    """sqrt(beta_t), beta_t = scale log(factor t) (Bogunovic et al. 2016, section 5: 0.8 log(4 t))."""

    scale: float = 0.8
    factor: float = 4.0

    def __post_init__(self) -> None:
        require_positive("scale", self.scale, "the paper uses 0.8")
        require_at_least_one("factor", self.factor, "the paper uses 4")

    def __call__(self, t: Ints, gain: Floats) -> Floats:
        return np.sqrt(self.scale * np.log(self.factor * t))


@dataclass(frozen=True)
class ChangePointWidth:
    """sqrt(beta_t), beta_t = D t^(d(d+1) / (2a + d(d+1))) log^4 T (Avanesov 2020, equation 3.7).

    t counts the plays since the last restart, before this one; T is the horizon of the whole run; a is the nu
    of a Matern kernel, or inf; and D is 0.02 in the paper's experiments.
    """

    horizon: int
    dim: int
    smoothness: float = 2.5
    constant: float = PAPER_CONSTANT

    def __post_init__(self) -> None:
        require_at_least_one("horizon", self.horizon, "it is the number of rounds of the whole run")
        require_at_least_one("dim", self.dim, "it is the number of features of a point")
        require_not_negative("constant", self.constant, "it is the D of beta_t; the paper takes 0.02")
        if not self.smoothness > 0:
            raise ValueError(f"smoothness must be positive, got {self.smoothness}; use inf for SE kernels")

    def __call__(self, t: Ints, gain: Floats) -> Floats:
        order = self.dim * (self.dim + 1)
        power = order / (2.0 * self.smoothness + order)
        beta = self.constant * (t - 1.0) ** power * math.log(self.horizon) ** 4
        return np.sqrt(beta)


@dataclass(frozen=True)
class KernelUCBWidth:
    """eta / sqrt(lambda), lambda in squares of the prior std, the width of KernelUCB (Valko et al. 2013)."""

    eta: float
    noise_variance: PerTrial

    def __post_init__(self) -> None:
        require_not_negative("eta", self.eta, "it multiplies a standard deviation")
        require_positive("noise_variance", self.noise_variance, MODEL_REMEDY)

    def __call__(self, t: Ints, gain: Floats) -> Floats:
        return np.full(t.shape, self.eta / np.sqrt(self.noise_variance), dtype=np.float64)
