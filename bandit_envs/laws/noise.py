"""Laws of observation noise, drawn at standard deviation 1: the trial and the play set the scale."""

import abc
import math
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from bandit_envs.basics import options
from bandit_envs.basics.arguments import is_number, require
from bandit_envs.basics.options import SQUARED_STD, Checked, not_negative, number, parse, positive
from bandit_envs.basics.types import Floats, Ints

FINITE = "above 2, where the variance is finite"
Std = Annotated[float, not_negative(), SQUARED_STD]


@dataclass(frozen=True)
class Noise(Checked, abc.ABC):
    """Draw independent noise of a stated standard deviation.

    Args:
        std: standard deviation in units of the reward.
        share: if given, the noise *variance* is this share of the function's range, max f - min f,
            and differs from trial to trial (Chowdhury & Gopalan 2017, Section 6: 0.01). Comparing a variance
            with a range suits functions of std 1: functions c times as large get noise only sqrt(c) times as
            large, and are easier. Give `std` for those.
    """

    std: Std = 0.1
    share: Annotated[float, positive()] | None = None

    relative_bound: ClassVar[float | None] = None  # almost sure bound on |noise| in noise stds
    # R in noise stds: E exp(s noise) <= exp(s^2 R^2 / 2) for all s.
    sub_gaussian: ClassVar[float | None] = None
    is_gaussian: ClassVar[bool] = False  # whether the noise is normal with one std at every play
    publishes_shape: ClassVar[bool] = False  # whether the setting publishes the noise std of each play
    num_points: ClassVar[int] = 0  # with runs of their own, one of which is what a play observes
    draws_outcomes: ClassVar[bool] = False  # whether a play's value is drawn from its mean by `of_means`

    def scale(self, low: float, high: float) -> float:
        """Return the noise std in a trial with this least and this largest mean reward."""
        return self.std if self.share is None else math.sqrt(self.share * (high - low))

    @property
    def stated_std(self) -> float | None:
        """Return the noise std of all trials; None if it is a share of each trial's range."""
        return self.std if self.share is None else None

    def shape(self, features: Floats) -> Floats:
        """Return the noise std of plays over the stated one, at most 1, by features in [0, 1]^d; here 1.

        (n, d) -> (n,). A round's draw is multiplied by it, so the draws are the same for all agents.
        """
        return np.ones(len(features))

    def of_runs(self, drawn: Floats, point: Ints) -> Floats:
        """Return the noise of plays from their rounds' scaled draws, (n,) each, of laws with `num_points`."""
        raise NotImplementedError

    def of_means(self, drawn: Any, mean: Any) -> Any:
        """Return the values of plays from their rounds' draws and means, of laws with `draws_outcomes`."""
        raise NotImplementedError

    @abc.abstractmethod
    def draw(self, horizon: int, rng: np.random.Generator) -> Floats:
        """Return noise of standard deviation 1 for each round, (T,)."""


@dataclass(frozen=True)
class NoNoise(Noise):
    """Observe the reward exactly."""

    std: float = 0.0

    relative_bound = 0.0
    sub_gaussian = 0.0

    def __post_init__(self) -> None:
        require(is_number(self.std) and self.std == 0.0, "std", "0 for the law 'none'", self.std)
        require(self.share is None, "share", "left out for the law 'none'", self.share)

    def draw(self, horizon: int, rng: np.random.Generator) -> Floats:
        return np.zeros(horizon)


@dataclass(frozen=True)
class Gaussian(Noise):
    """Draw N(0, std^2), which is std-sub-Gaussian."""

    sub_gaussian = 1.0
    is_gaussian = True

    def draw(self, horizon: int, rng: np.random.Generator) -> Floats:
        return rng.standard_normal(horizon)


@dataclass(frozen=True)
class UniformNoise(Noise):
    """Draw on [-a, a], a = sqrt(3) std: bounded, as Theorem 3 of Srinivas et al. (2010) requires."""

    relative_bound = float(np.sqrt(3.0))
    sub_gaussian = 1.0  # E exp(s a u) = sinh(s a) / (s a) <= exp(s^2 a^2 / 6), u uniform on [-1, 1]

    def draw(self, horizon: int, rng: np.random.Generator) -> Floats:
        return rng.uniform(-np.sqrt(3.0), np.sqrt(3.0), horizon)


@dataclass(frozen=True)
class StudentT(Noise):
    """Draw Student's t of the stated standard deviation: heavy tails, sub-Gaussian for no R."""

    degrees: Annotated[float, number(FINITE, lambda degrees: degrees > 2)] = 3.0

    def draw(self, horizon: int, rng: np.random.Generator) -> Floats:
        return rng.standard_t(self.degrees, horizon) * np.sqrt((self.degrees - 2.0) / self.degrees)


@dataclass(frozen=True)
class Pareto(Noise):
    """Draw from Pareto's law of a tail index, centred and of the stated std: one heavy upper tail.

    P(y > u) falls as u^-index, so E|y|^p is finite for p < index alone, and no R makes it sub-Gaussian.
    """

    index: Annotated[float, number(FINITE, lambda index: index > 2)] = 3.0

    def draw(self, horizon: int, rng: np.random.Generator) -> Floats:
        """Draw with mean 0 and variance 1, (T,): x >= 1 has mean a/(a-1), variance a/((a-1)^2 (a-2))."""
        a = self.index
        from_mean = 1.0 + rng.pareto(a, horizon) - a / (a - 1.0)
        return from_mean * (a - 1.0) * np.sqrt((a - 2.0) / a)


BASES: dict[str, type[Noise]] = {
    "gaussian": Gaussian,
    "uniform": UniformNoise,
    "student-t": StudentT,
    "pareto": Pareto,
}


@dataclass(frozen=True)
class NoiseByArm(Noise):
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
    quietest: Annotated[float, options.positive_fraction()] = 0.1
    declared: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        law = parse("base", self.base, BASES)
        plain = law.std == type(law)().std and law.share is None
        require(plain, "base", 'without "std" and "share", which belong to the law "by-arm"', self.base)
        object.__setattr__(self, "base", law)
        object.__setattr__(self, "publishes_shape", self.declared)
        for bound in ("relative_bound", "sub_gaussian"):  # no play's std is above the stated one
            object.__setattr__(self, bound, getattr(law, bound))

    def shape(self, features: Floats) -> Floats:
        return self.quietest + (1.0 - self.quietest) * np.clip(features[:, 0], 0.0, 1.0)

    def draw(self, horizon: int, rng: np.random.Generator) -> Floats:
        return self.base.draw(horizon, rng)


LAWS: dict[str, type[Noise]] = {**BASES, "by-arm": NoiseByArm, "none": NoNoise}

Uniform, ByArm = UniformNoise, NoiseByArm  # former names, shared by two kinds
