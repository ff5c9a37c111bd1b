"""Noise of the same law at every arm."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bandit_envs.basics.arguments import is_number, require
from bandit_envs.basics.types import Floats
from bandit_envs.laws.noise.base import Noise


@dataclass(frozen=True)
class NoNoise(Noise):
    """Observations are exact."""

    std: float = 0.0

    def __post_init__(self) -> None:
        require(is_number(self.std) and self.std == 0.0, "std", "0 for the law 'none'", self.std)
        require(self.share is None, "share", "left out for the law 'none'", self.share)

    @property
    def relative_bound(self) -> float:
        """0."""
        return 0.0

    @property
    def sub_gaussian(self) -> float:
        """0."""
        return 0.0

    def draw(self, horizon: int, rng: np.random.Generator) -> Floats:
        """Zeros, (T,)."""
        return np.zeros(horizon)


@dataclass(frozen=True)
class Gaussian(Noise):
    """N(0, std^2), std-sub-Gaussian."""

    @property
    def sub_gaussian(self) -> float:
        """1."""
        return 1.0

    @property
    def is_gaussian(self) -> bool:
        """It is."""
        return True

    def draw(self, horizon: int, rng: np.random.Generator) -> Floats:
        """Standard normal, (T,)."""
        return rng.standard_normal(horizon)


@dataclass(frozen=True)
class Uniform(Noise):
    """Uniform on [-a, a] with a = sqrt(3) std: bounded, as Theorem 3 of Srinivas et al. 2010 asks, and
    std-sub-Gaussian."""

    @property
    def relative_bound(self) -> float:
        """sqrt(3)."""
        return float(np.sqrt(3.0))

    @property
    def sub_gaussian(self) -> float:
        """1: E exp(s a u) = sinh(s a) / (s a) <= exp(s^2 a^2 / 6), u uniform on [-1, 1]."""
        return 1.0

    def draw(self, horizon: int, rng: np.random.Generator) -> Floats:
        """Uniform of variance 1, (T,)."""
        return rng.uniform(-np.sqrt(3.0), np.sqrt(3.0), horizon)


@dataclass(frozen=True)
class StudentT(Noise):
    """Student's t of the stated standard deviation: heavy tails, sub-Gaussian for no R."""

    degrees: float = 3.0

    def __post_init__(self) -> None:
        super().__post_init__()
        valid = is_number(self.degrees) and self.degrees > 2
        require(valid, "degrees", "above 2, where the variance is finite", self.degrees)

    def draw(self, horizon: int, rng: np.random.Generator) -> Floats:
        """Student t of variance 1, (T,)."""
        return rng.standard_t(self.degrees, horizon) * np.sqrt((self.degrees - 2.0) / self.degrees)


@dataclass(frozen=True)
class Pareto(Noise):
    """Pareto's law of a tail index, centred and of the stated deviation: one heavy tail, upwards.

    P(y > u) falls as u^-index, so E|y|^p is finite for p < index alone, and no R makes it sub-Gaussian.
    """

    index: float = 3.0

    def __post_init__(self) -> None:
        super().__post_init__()
        valid = is_number(self.index) and self.index > 2
        require(valid, "index", "above 2, where the variance is finite", self.index)

    def draw(self, horizon: int, rng: np.random.Generator) -> Floats:
        """Mean 0 and variance 1, (T,): x of mean a / (a - 1), variance a / ((a - 1)^2 (a - 2)), x >= 1."""
        a = self.index
        from_mean = 1.0 + rng.pareto(a, horizon) - a / (a - 1.0)
        return from_mean * (a - 1.0) * np.sqrt((a - 2.0) / a)
