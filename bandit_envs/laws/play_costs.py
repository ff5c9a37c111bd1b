"""The costs of plays, constant or drawn, and the budget that ends an episode."""

import abc
import math
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Annotated, Any, ClassVar

import numpy as np

from bandit_envs.basics.arguments import is_number, require
from bandit_envs.basics.options import Checked, not_negative, positive
from bandit_envs.basics.types import Floats
from bandit_envs.kernels.gram import Gram
from bandit_envs.laws.drawn import Drawn
from bandit_envs.laws.functions import GPSample

MOST_STDS = 3.0  # prior stds at which log-GP costs are clipped, so that they are bounded


@dataclass(frozen=True)
class PlayCosts(Checked, abc.ABC):
    """Draw k(x) > 0, the amount that a play of x takes from the budget, constant throughout a trial.

    Change-points and drift affect rewards and constraints only. In a context a play costs k of its (context,
    arm) pair.

    Args:
        budget: B, the amount that may be spent in a trial, at least the largest possible cost of a play.
        known: whether the costs are published before the first round.
        noise_std: of observed costs, N(0, noise_std^2) on k, or on ln k where costs are `logarithmic`;
            independent of the rewards' noise. The budget pays the true cost.
    """

    budget: float
    _: KW_ONLY
    known: bool = False
    noise_std: Annotated[float, not_negative()] = 0.0

    logarithmic: ClassVar[bool] = False  # whether ln k, not k, is the Gaussian process
    is_free: ClassVar[bool] = False  # whether nothing is ever spent
    is_fixed: ClassVar[bool] = False  # whether every draw is the same function
    is_measured: ClassVar[bool] = False  # whether it holds the costs of each arm, and so is never published

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.is_free:
            enough = is_number(self.budget) and self.budget >= self.most
            require(enough, "budget", f"at least {self.most:g}, the largest cost of a play", self.budget)

    def check_size(self, size: int) -> None:
        """Raise where the law has costs of another number of points."""

    @property
    @abc.abstractmethod
    def extent(self) -> tuple[float, float]:
        """Return a lower and an upper bound on the cost of a play."""

    @property
    def least(self) -> float:
        """Return the lower bound on the cost of a play."""
        return self.extent[0]

    @property
    def most(self) -> float:
        """Return the upper bound on the cost of a play."""
        return self.extent[1]

    @property
    @abc.abstractmethod
    def prior(self) -> tuple[float, float]:
        """Return mean and std of k over draws and points, or of ln k where it is `logarithmic`."""

    @abc.abstractmethod
    def draw(self, gram: Gram, rng: np.random.Generator) -> Drawn:
        """Draw k; `gram` is the model's on the points."""

    def seen(self, cost: Floats | float, normal: Floats | float) -> Floats | float:
        """Return the observed values of true costs, given standard normals of the same shape."""
        noise = self.noise_std * normal
        return cost * np.exp(noise) if self.logarithmic else cost + noise


class ConstantCosts(PlayCosts):
    """Charge k = `value` for every play."""

    value: ClassVar[float]
    is_fixed: ClassVar[bool] = True

    @property
    def extent(self) -> tuple[float, float]:
        return self.value, self.value

    @property
    def prior(self) -> tuple[float, float]:
        return self.value, 0.0

    def draw(self, gram: Gram, rng: np.random.Generator) -> Drawn:
        return Drawn(np.full(gram.size, self.value), between=partial(_constant, self.value))


@dataclass(frozen=True)
class Free(ConstantCosts):
    """Charge nothing."""

    budget: float = math.inf

    value: ClassVar[float] = 0.0
    is_free: ClassVar[bool] = True


@dataclass(frozen=True)
class UnitCosts(ConstantCosts):
    """Charge k = 1: the budget is a number of plays."""

    known: bool = True

    value: ClassVar[float] = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        usable = self.known and not self.noise_std
        require(usable, "known", "True, without noise_std, for the law 'unit'", self)


def _constant(value: float, x: Floats) -> Floats:
    return np.full(len(x), value)


@dataclass(frozen=True)
class GPCosts(PlayCosts):
    """Draw from the model's GP, rescaled to these minimum, which is positive, and maximum on the points."""

    _: KW_ONLY
    low: Annotated[float, positive()] = 0.2
    high: Annotated[float, positive()] = 1.2

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.high > self.low, "high", "larger than low", self.high)

    @property
    def extent(self) -> tuple[float, float]:
        return self.low, self.high

    @property
    def prior(self) -> tuple[float, float]:
        return (self.low + self.high) / 2.0, (self.high - self.low) / 4.0

    def draw(self, gram: Gram, rng: np.random.Generator) -> Drawn:
        """Draw and rescale; values between the points of a box are clipped at both ends."""
        drawn = GPSample().draw(gram, rng)
        span = float(np.ptp(drawn.values))
        factor = (self.high - self.low) / span if span else 0.0
        shift = self.low - factor * float(drawn.values.min())
        return drawn.through(partial(_within, factor, shift, self.low, self.high, np.asarray))


@dataclass(frozen=True)
class LogGPCosts(PlayCosts):
    """Draw ln k = ln median + deviation h, h a draw of the model's GP of unit variance, clipped at 3 stds."""

    _: KW_ONLY
    median: Annotated[float, positive()] = 1.0
    deviation: Annotated[float, positive()] = 1.0

    logarithmic: ClassVar[bool] = True

    @property
    def extent(self) -> tuple[float, float]:
        reach = MOST_STDS * self.deviation
        return self.median * math.exp(-reach), self.median * math.exp(reach)

    @property
    def prior(self) -> tuple[float, float]:
        return math.log(self.median), self.deviation

    def draw(self, gram: Gram, rng: np.random.Generator) -> Drawn:
        factor = self.deviation / math.sqrt(gram.diagonal.max())
        low, high = math.log(self.least), math.log(self.most)
        change = partial(_within, factor, math.log(self.median), low, high, np.exp)
        return GPSample().draw(gram, rng).through(change)


def _within(factor: float, shift: float, low: float, high: float, outer: Any, values: Floats) -> Floats:
    """Return outer(factor * f + shift, clipped to [low, high])."""
    return outer(np.clip(factor * values + shift, low, high))


FREE = Free()

LAWS: dict[str, type[PlayCosts]] = {"none": Free, "unit": UnitCosts, "gp": GPCosts, "log-gp": LogGPCosts}
