"""Choices of the maximum information gain gamma_t in a width: realised, a constant or a rate."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from sklearn.gaussian_process.kernels import DotProduct, Kernel

from bandit_envs.basics.arguments import require_at_least_one, require_not_negative, require_positive
from bandit_envs.basics.types import Floats, Ints

from ..kernels.shape import smoothness, split_amplitude
from ..validation import PerTrial


@runtime_checkable
class Gamma(Protocol):
    """Function that gives the information about the reward function available after t rounds, in nats."""

    def __call__(self, rounds: Ints, gain: Floats) -> Floats:
        """Return gamma after `rounds` observations with realised gain `gain`, (B,) each -> (B,)."""
        ...


@dataclass(frozen=True)
class Realised:
    """g_t = 1/2 log det(I + K_t / lambda) of the points played so far; no upper bound on gamma_t."""

    def __call__(self, rounds: Ints, gain: Floats) -> Floats:
        """Return the realised gain itself, (B,)."""
        return gain


@dataclass(frozen=True)
class Constant:
    """gamma_t = value (Chowdhury & Gopalan 2017, section 6, take 1 on sensor data)."""

    value: PerTrial = 1.0  # or (B,)

    def __post_init__(self) -> None:
        require_not_negative("value", self.value, "an information gain is at least 0")

    def __call__(self, rounds: Ints, gain: Floats) -> Floats:
        """Return the constant for each trial, (B,)."""
        return np.full(rounds.shape, self.value, dtype=np.float64)


@dataclass(frozen=True)
class Rate:
    """gamma_t = constant * t^power * (ln t)^log_power at max(t, 1): an order of growth, not a bound."""

    power: float
    log_power: float
    constant: float = 1.0

    def __post_init__(self) -> None:
        require_not_negative("power", self.power, "gamma_t never falls")
        require_positive("log_power", self.log_power, "gamma_0 must be 0")
        require_positive("constant", self.constant, "use 1 for the papers' rates")

    def __call__(self, rounds: Ints, gain: Floats) -> Floats:
        """Return the rate at the number of observations, (B,)."""
        t = np.maximum(rounds, 1)
        return self.constant * t**self.power * np.log(t) ** self.log_power

    @classmethod
    def squared_exponential(cls, dim: int) -> Rate:
        """Return the rate (ln t)^(d+1) (Srinivas et al. 2010, Theorem 5)."""
        return cls(0.0, _dimension(dim) + 1.0)

    @classmethod
    def matern(cls, dim: int, nu: float) -> Rate:
        """Return the rate t^(d(d+1) / (2 nu + d(d+1))) ln t (Srinivas et al. 2010, Theorem 5)."""
        require_positive("nu", nu, "it is the order of the Matern kernel")
        squared = _dimension(dim) * (dim + 1)
        return cls(squared / (2 * nu + squared), 1.0)

    @classmethod
    def vakili(cls, dim: int, nu: float) -> Rate:
        """Return t^(d / (2 nu + d)) (ln t)^(2 nu / (2 nu + d)) for a Matern kernel (Vakili et al. 2021)."""
        require_positive("nu", nu, "it is the order of the Matern kernel")
        power = _dimension(dim) / (2 * nu + dim)
        return cls(power, 1.0 - power)

    @classmethod
    def linear(cls, dim: int) -> Rate:
        """Return the rate d ln t for the linear kernel (Srinivas et al. 2010, Theorem 5)."""
        return cls(0.0, 1.0, constant=float(_dimension(dim)))


def rate_for(kernel: Kernel, dim: int, vakili: bool = False) -> Rate:
    """Return the rate of a squared exponential, Matern or linear kernel of any amplitude.

    Args:
        kernel: a scikit-learn kernel.
        dim: number of features d of a point, contexts included.
        vakili: True for the smaller rate of Vakili et al. (2021) for Matern kernels.
    """
    _, shape = split_amplitude(kernel)
    nu = smoothness(shape)
    if isinstance(shape, DotProduct):
        return Rate.linear(dim)
    if nu is None:
        raise ValueError(
            f"no rate of information gain is known for {kernel!r}; "
            "use the realised gain, upper_bound(...) of the kernel's Gram matrix, or a constant"
        )
    if math.isinf(nu):
        return Rate.squared_exponential(dim)
    return Rate.vakili(dim, nu) if vakili else Rate.matern(dim, nu)


def _dimension(dim: int) -> int:
    require_at_least_one("dim", dim, "it is the number of features of a point")
    return dim
