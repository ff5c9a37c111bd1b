"""Draw noise of the same law at every arm."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bandit_envs.basics.arguments import is_number, require
from bandit_envs.basics.types import Floats
from bandit_envs.laws.noise.base import Noise


@dataclass(frozen=True)
class NoNoise(Noise):
    """Observe the reward exactly."""

    std: float = 0.0

    def __post_init__(self) -> None:
        require(is_number(self.std) and self.std == 0.0, "std", "0 for the law 'none'", self.std)
        require(self.share is None, "share", "left out for the law 'none'", self.share)

    @property
    def relative_bound(self) -> float:
        """Return 0."""
        return 0.0

    @property
    def sub_gaussian(self) -> float:
        """Return 0."""
        return 0.0

    def draw(self, horizon: int, rng: np.random.Generator) -> Floats:
        """Return zeros, (T,)."""
        return np.zeros(horizon)


@dataclass(frozen=True)
class Gaussian(Noise):
    """Draw N(0, std^2), which is std-sub-Gaussian."""

    @property
    def sub_gaussian(self) -> float:
        """Return 1."""
        return 1.0

    @property
    def is_gaussian(self) -> bool:
        """Return True."""
        return True

    def draw(self, horizon: int, rng: np.random.Generator) -> Floats:
        """Draw standard normals, (T,)."""
        return rng.standard_normal(horizon)


@dataclass(frozen=True)
class Uniform(Noise):
    """Draw uniformly on [-a, a], a = sqrt(3) std: std-sub-Gaussian.

    It is bounded, as Theorem 3 of Srinivas et al. 2010 requires.
    """

    @property
    def relative_bound(self) -> float:
        """Return sqrt(3)."""
        return float(np.sqrt(3.0))

    @property
    def sub_gaussian(self) -> float:
        """Return 1: E exp(s a u) = sinh(s a) / (s a) <= exp(s^2 a^2 / 6), u uniform on [-1, 1]."""
        return 1.0

    def draw(self, horizon: int, rng: np.random.Generator) -> Floats:
        """Draw uniforms of variance 1, (T,)."""
        return rng.uniform(-np.sqrt(3.0), np.sqrt(3.0), horizon)


@dataclass(frozen=True)
class StudentT(Noise):
    """Draw Student's t of the stated standard deviation: heavy tails, sub-Gaussian for no R."""

    degrees: float = 3.0

    def __post_init__(self) -> None:
        super().__post_init__()
        valid = is_number(self.degrees) and self.degrees > 2
        require(valid, "degrees", "above 2, where the variance is finite", self.degrees)

    def draw(self, horizon: int, rng: np.random.Generator) -> Floats:
        """Draw Student's t of variance 1, (T,)."""
        return rng.standard_t(self.degrees, horizon) * np.sqrt((self.degrees - 2.0) / self.degrees)


@dataclass(frozen=True)
class Pareto(Noise):
    """Draw from Pareto's law of a tail index, centred and of the stated std: one heavy upper tail.

    P(y > u) falls as u^-index, so E|y|^p is finite for p < index alone, and no R makes it sub-Gaussian.
    """

    index: float = 3.0

    def __post_init__(self) -> None:
        super().__post_init__()
        valid = is_number(self.index) and self.index > 2
        require(valid, "index", "above 2, where the variance is finite", self.index)

    def draw(self, horizon: int, rng: np.random.Generator) -> Floats:
        """Draw with mean 0 and variance 1, (T,): x >= 1 has mean a/(a-1), variance a/((a-1)^2 (a-2))."""
        a = self.index
        from_mean = 1.0 + rng.pareto(a, horizon) - a / (a - 1.0)
        return from_mean * (a - 1.0) * np.sqrt((a - 2.0) / a)
