"""Draw the delays of feedback: in rounds, in units of time, longer for some arms or rewards."""

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from scipy.special import pdtr, pdtrik

from bandit_envs.basics.options import not_negative, number, parse
from bandit_envs.basics.types import Floats
from bandit_envs.laws.delays.waits import (
    BASES,
    TAIL,
    Constant,
    Cyclic,
    Delay,
    DelayInTime,
    Exponential,
    GeometricDelay,
    HeavyTailed,
    Immediate,
    LogNormal,
    PoissonDelay,
    UniformDelay,
)


@dataclass(frozen=True)
class DelayByArm(Delay):
    """Multiply another law's wait by 1 + (slowest - 1) x_1, rounded as that law rounds.

    x_1 is the play's first feature, scaled to [0, 1] over the decision set: x_1 = 1 waits longest.

    Args:
        base: the other law, or its description.
        slowest: the factor at x_1 = 1, at least 1.
    """

    base: Any = "poisson"
    slowest: Annotated[float, number("a factor >= 1", lambda slowest: slowest >= 1)] = 3.0

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "base", parse("base", self.base, BASES))

    def slowdown(self, features: Floats) -> Floats:
        return 1.0 + (self.slowest - 1.0) * features[:, 0]

    def in_rounds(self, waits: Floats) -> Floats:
        return self.base.in_rounds(waits)

    def query_times(self, horizon: int) -> Floats | None:
        return self.base.query_times(horizon)

    def quantile(self, late: float = TAIL) -> float:
        """Return the other law's quantile at the slowest arm: no arm is late more often."""
        return self.slowest * self.base.quantile(late)

    def draw_waits(self, horizon: int, rng: np.random.Generator) -> Floats:
        return self.base.draw(horizon, rng)


@dataclass(frozen=True)
class ByReward(Delay):
    """Draw Poisson delays of mean `mean` + `more` s, which grow with the reward's shortfall s.

    s in [0, 1] is how far the reward y that will be observed falls short of the best mean of its round, as a
    share of the range of the means: s = min(max((max f - y) / (max f - min f), 0), 1). A round draws one
    uniform u, and its delay is the u-quantile of the law of its play, so a better reward is never later.

    The feedback delivered by some round is a biased sample: favourable noise is delivered first, so estimates
    from delivered feedback, censored ones too, are too high until all is delivered. No guarantee for delays
    that are independent of rewards holds.

    Args:
        mean: delay of the best rewards.
        more: additional mean delay of the worst.
    """

    mean: float = 10.0
    more: Annotated[float, not_negative()] = 20.0

    depends_on_rewards = True

    def __post_init__(self) -> None:
        super().__post_init__()
        PoissonDelay(self.mean)

    def wait(self, drawn: Any, shortfall: Any, reward: Any) -> Any:
        """Return the quantiles at the uniforms, (n,) each -> (n,); infinite where the draw is."""
        lost = np.isinf(drawn)
        late = poisson_quantile(np.where(lost, 0.0, drawn), self.mean + self.more * shortfall)
        return np.where(lost, np.inf, late)

    def quantile(self, late: float = TAIL) -> float:
        """Return the quantile of the worst rewards: none are late more often."""
        return PoissonDelay(self.mean + self.more).quantile(late)

    def draw_waits(self, horizon: int, rng: np.random.Generator) -> Floats:
        return rng.random(horizon)


ALIKE = {name: law for name, law in BASES.items() if not issubclass(law, Cyclic | DelayInTime)}


@dataclass(frozen=True)
class Conversions(Delay):
    """Deliver positive rewards alone, after another law's delay: of a play without one nothing is reported.

    With clicks these are conversions, whose absence is never reported. Delivered feedback is then all ones:
    what is delivered by some age is a biased sample, and a play without feedback may convert later or never.

    Args:
        base: the other law, or its description: one in rounds that is the same in all of them.
    """

    base: Any = "geometric"

    depends_on_rewards = True

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "base", parse("base", self.base, ALIKE))

    def wait(self, drawn: Any, shortfall: Any, reward: Any) -> Any:
        return np.where(reward > 0.0, drawn, np.inf)

    def quantile(self, late: float = TAIL) -> float:
        """Return the other law's quantile, that of conversions."""
        return self.base.quantile(late)

    def draw_waits(self, horizon: int, rng: np.random.Generator) -> Floats:
        return self.base.draw(horizon, rng)


def poisson_quantile(uniform: Any, mean: Any) -> Any:
    """Return the smallest k with P(Poisson(mean) <= k) >= u, (n,) each -> (n,)."""
    above = np.ceil(pdtrik(uniform, mean))
    below = np.maximum(above - 1.0, 0.0)  # rounding may make `above` one too large
    return np.where(pdtr(below, mean) >= uniform, below, above)


LAWS: dict[str, type[Delay]] = {
    **BASES,
    "by-arm": DelayByArm,
    "by-reward": ByReward,
    "conversions": Conversions,
}

__all__ = [
    "LAWS",
    "TAIL",
    "ByReward",
    "Constant",
    "Conversions",
    "Cyclic",
    "Delay",
    "DelayByArm",
    "Exponential",
    "GeometricDelay",
    "HeavyTailed",
    "Immediate",
    "LogNormal",
    "PoissonDelay",
    "UniformDelay",
]

Uniform, Poisson = UniformDelay, PoissonDelay  # former names, shared by two kinds
Geometric, ByArm = GeometricDelay, DelayByArm
