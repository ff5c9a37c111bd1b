"""Laws of observation noise: the same at every arm, or by arm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bandit_envs.basics.arguments import is_number, require, require_switch
from bandit_envs.basics.types import Floats
from bandit_envs.laws.by_name import parse
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


BASES: dict[str, type[Noise]] = {
    "gaussian": Gaussian,
    "uniform": Uniform,
    "student-t": StudentT,
    "pareto": Pareto,
}


@dataclass(frozen=True)
class ByArm(Noise):
    """Scale another law's noise to std rho(x) = std (q + (1 - q) x_1): heteroscedastic noise.

    x_1 is the play's first feature, scaled to [0, 1] over the decision set: x_1 = 1 is noisiest, with the
    stated std. A declared law is published: `Setting.noise_profile` on a finite set, and "feedback_std" in
    the `info` of a round, the noise std of each delivered value. An undeclared one publishes the largest std
    alone, which bounds all others.

    Args:
        base: the other law, or its description without a std.
        quietest: q in (0, 1], the share of the stated std at x_1 = 0.
        declared: whether rho is published.
    """

    base: Any = "gaussian"
    quietest: float = 0.1
    declared: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        valid = is_number(self.quietest) and 0 < self.quietest <= 1
        require(valid, "quietest", "a share in (0, 1]", self.quietest)
        require_switch("declared", self.declared)
        law = parse("base", self.base, BASES)
        plain = law.std == type(law)().std and law.share is None
        require(plain, "base", 'without "std" and "share", which belong to the law "by-arm"', self.base)
        object.__setattr__(self, "base", law)

    @property
    def relative_bound(self) -> float | None:
        """Return the other law's bound."""
        return self.base.relative_bound

    @property
    def sub_gaussian(self) -> float | None:
        """Return the other law's constant, for no play's std is above the stated one."""
        return self.base.sub_gaussian

    @property
    def publishes_shape(self) -> bool:
        """Return whether rho is declared."""
        return self.declared

    def shape(self, features: Floats) -> Floats:
        """Return q + (1 - q) x_1, (n, d) -> (n,)."""
        return self.quietest + (1.0 - self.quietest) * np.clip(features[:, 0], 0.0, 1.0)

    def draw(self, horizon: int, rng: np.random.Generator) -> Floats:
        """Draw as the other law."""
        return self.base.draw(horizon, rng)
