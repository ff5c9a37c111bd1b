"""Observation noise: each law draws at standard deviation 1, the trial sets the scale."""

from __future__ import annotations

import abc
from dataclasses import dataclass

import numpy as np

from bandit_envs.basics.arguments import LARGEST_DEVIATION, is_number, require
from bandit_envs.basics.types import Floats


@dataclass(frozen=True)
class Noise(abc.ABC):
    """Independent noise of a stated standard deviation.

    Args:
        std: standard deviation in units of the reward.
        share: if given, the noise *variance* is this share of the function's range, max f - min f,
            and differs from trial to trial (Chowdhury & Gopalan 2017, Section 6: 0.01). As the paper has it
            a variance is compared with a range, so that it holds for functions of deviation 1: those that are
            c times as large have noise that is sqrt(c) times as large, and are easier. Give `std` there.
    """

    std: float = 0.1
    share: float | None = None

    def __post_init__(self) -> None:
        require(is_number(self.std) and self.std >= 0, "std", "0 or a positive number", self.std)
        require(self.std <= LARGEST_DEVIATION, "std", f"at most {LARGEST_DEVIATION:g}", self.std)
        valid = self.share is None or (is_number(self.share) and self.share > 0)
        require(valid, "share", "None or positive", self.share)

    def scale(self, values: Floats) -> float:
        """Standard deviation in a trial whose mean rewards are `values`."""
        return self.std if self.share is None else float(np.sqrt(self.share * np.ptp(values)))

    @property
    def stated_std(self) -> float | None:
        """Standard deviation that holds for all trials, None where it is a share of each one's range."""
        return self.std if self.share is None else None

    @property
    def relative_bound(self) -> float | None:
        """Almost sure bound on |noise| in standard deviations, None if there is none."""
        return None

    @abc.abstractmethod
    def draw(self, horizon: int, rng: np.random.Generator) -> Floats:
        """Noise of standard deviation 1 for each round, (T,)."""


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

    def draw(self, horizon: int, rng: np.random.Generator) -> Floats:
        """Zeros, (T,)."""
        return np.zeros(horizon)


@dataclass(frozen=True)
class Gaussian(Noise):
    """N(0, std^2), std-sub-Gaussian."""

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


LAWS: dict[str, type[Noise]] = {
    "gaussian": Gaussian,
    "uniform": Uniform,
    "student-t": StudentT,
    "none": NoNoise,
}
