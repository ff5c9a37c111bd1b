"""What plays cost, and how much may be spent: the episode ends with the budget."""

from __future__ import annotations

import abc
import math
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

import numpy as np

from bandit_envs.basics.arguments import is_number, require, require_switch
from bandit_envs.basics.types import Floats
from bandit_envs.kernels.gram import Gram
from bandit_envs.laws.drawn import Drawn
from bandit_envs.laws.functions import GPSample

MOST_DEVIATIONS = 3.0  # beyond which log-GP costs are cut, so that their bounds are bounds


@dataclass(frozen=True)
class PlayCosts(abc.ABC):
    """The law of k(x) > 0, what a play of x takes from the budget; the same throughout a trial.

    Change-points and drift concern rewards and constraints. In a context a play costs what its (context,
    arm) pair costs.

    Args:
        budget: B, what may be spent in a trial, at least the most that a play can cost.
        known: whether the costs are published before the first round.
        noise_std: of what is seen of a cost, N(0, noise_std^2) on k, or on ln k where costs are
            `logarithmic`; independent of the rewards' noise. The budget pays the true cost.
    """

    budget: float
    _: KW_ONLY
    known: bool = False
    noise_std: float = 0.0

    logarithmic: ClassVar[bool] = False  # whether ln k, not k, is the Gaussian process

    def __post_init__(self) -> None:
        require_switch("known", self.known)
        valid = is_number(self.noise_std) and self.noise_std >= 0
        require(valid, "noise_std", "0 or positive", self.noise_std)
        if not self.is_free:
            enough = is_number(self.budget) and self.budget >= self.most
            require(enough, "budget", f"at least {self.most:g}, what a play can cost", self.budget)

    @property
    def is_free(self) -> bool:
        """Whether nothing is ever spent."""
        return False

    @property
    def is_fixed(self) -> bool:
        """Whether every draw is the same function."""
        return False

    @property
    @abc.abstractmethod
    def least(self) -> float:
        """What no play costs less than."""

    @property
    @abc.abstractmethod
    def most(self) -> float:
        """What no play costs more than."""

    @property
    @abc.abstractmethod
    def prior(self) -> tuple[float, float]:
        """Mean and deviation of k over draws and points, or of ln k where it is `logarithmic`."""

    @abc.abstractmethod
    def draw(self, gram: Gram, rng: np.random.Generator) -> Drawn:
        """Draw k; `gram` is the model's on the points."""

    def seen(self, cost: Floats | float, normal: Floats | float) -> Floats | float:
        """What is seen of true costs, given standard normals, of one shape."""
        noise = self.noise_std * normal
        return cost * np.exp(noise) if self.logarithmic else cost + noise


@dataclass(frozen=True)
class Free(PlayCosts):
    """Plays cost nothing."""

    budget: float = math.inf

    @property
    def is_free(self) -> bool:
        """It is."""
        return True

    @property
    def is_fixed(self) -> bool:
        """It is."""
        return True

    @property
    def least(self) -> float:
        """0."""
        return 0.0

    @property
    def most(self) -> float:
        """0."""
        return 0.0

    @property
    def prior(self) -> tuple[float, float]:
        """0, without a doubt."""
        return 0.0, 0.0

    def draw(self, gram: Gram, rng: np.random.Generator) -> Drawn:
        """Zeros."""
        return Drawn(np.zeros(gram.size), between=_Constant(0.0))


@dataclass(frozen=True)
class UnitCosts(PlayCosts):
    """k = 1: a budget of B plays."""

    known: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        require(
            self.known and not self.noise_std, "known", "True, without noise_std, for the law 'unit'", self
        )

    @property
    def is_fixed(self) -> bool:
        """It is."""
        return True

    @property
    def least(self) -> float:
        """1."""
        return 1.0

    @property
    def most(self) -> float:
        """1."""
        return 1.0

    @property
    def prior(self) -> tuple[float, float]:
        """1, without a doubt."""
        return 1.0, 0.0

    def draw(self, gram: Gram, rng: np.random.Generator) -> Drawn:
        """Ones."""
        return Drawn(np.ones(gram.size), between=_Constant(1.0))


@dataclass(frozen=True)
class GPCosts(PlayCosts):
    """A draw from the model's GP, rescaled to have this minimum and maximum on the points.

    Args:
        low, high: the minimum, which is positive, and the maximum.
    """

    _: KW_ONLY
    low: float = 0.2
    high: float = 1.2

    def __post_init__(self) -> None:
        require(is_number(self.low) and self.low > 0, "low", "positive", self.low)
        require(is_number(self.high) and self.high > self.low, "high", "larger than low", self.high)
        super().__post_init__()

    @property
    def least(self) -> float:
        """The minimum."""
        return self.low

    @property
    def most(self) -> float:
        """The maximum."""
        return self.high

    @property
    def prior(self) -> tuple[float, float]:
        """The middle of the range, and a deviation of which two reach its ends."""
        return (self.low + self.high) / 2.0, (self.high - self.low) / 4.0

    def draw(self, gram: Gram, rng: np.random.Generator) -> Drawn:
        """Draw and rescale; what lies between the points of a box is cut at both ends."""
        drawn = GPSample().draw(gram, rng)
        span = float(np.ptp(drawn.values))
        factor = (self.high - self.low) / span if span else 0.0
        shift = self.low - factor * float(drawn.values.min())
        return _mapped(drawn, factor, shift, self.low, self.high)


@dataclass(frozen=True)
class LogGPCosts(PlayCosts):
    """ln k = ln median + deviation h, h a draw from the model's GP of unit variance, cut at 3 deviations.

    Args:
        median: of the costs.
        deviation: of their logarithms.
    """

    _: KW_ONLY
    median: float = 1.0
    deviation: float = 1.0

    logarithmic: ClassVar[bool] = True

    def __post_init__(self) -> None:
        for name in ("median", "deviation"):
            value = getattr(self, name)
            require(is_number(value) and value > 0, name, "positive", value)
        super().__post_init__()

    @property
    def least(self) -> float:
        """That of 3 deviations below the median."""
        return self.median * math.exp(-MOST_DEVIATIONS * self.deviation)

    @property
    def most(self) -> float:
        """That of 3 deviations above the median."""
        return self.median * math.exp(MOST_DEVIATIONS * self.deviation)

    @property
    def prior(self) -> tuple[float, float]:
        """Of the logarithm."""
        return math.log(self.median), self.deviation

    def draw(self, gram: Gram, rng: np.random.Generator) -> Drawn:
        """Draw, cut, and take the exponential."""
        factor = self.deviation / math.sqrt(gram.diagonal.max())
        low, high = math.log(self.least), math.log(self.most)
        return _mapped(GPSample().draw(gram, rng), factor, math.log(self.median), low, high, np.exp)


@dataclass(frozen=True)
class _Constant:
    value: float

    def __call__(self, x: Floats) -> Floats:
        return np.full(len(x), self.value)


@dataclass(frozen=True, eq=False)
class _Mapped:
    """A function of another's values, (n, dz + d) -> (n,)."""

    function: Callable[[Floats], Floats]
    change: Callable[[Floats], Floats]

    def __call__(self, x: Floats) -> Floats:
        return self.change(self.function(x))


@dataclass(frozen=True)
class _Cut:
    """outer(factor * value + shift, cut to [low, high])."""

    factor: float
    shift: float
    low: float
    high: float
    outer: Callable[[Floats], Floats] | None

    def __call__(self, values: Floats) -> Floats:
        cut = np.clip(self.factor * values + self.shift, self.low, self.high)
        return cut if self.outer is None else self.outer(cut)


def _mapped(
    drawn: Drawn,
    factor: float,
    shift: float,
    low: float,
    high: float,
    outer: Callable[[Floats], Floats] | None = None,
) -> Drawn:
    change = _Cut(factor, shift, low, high, outer)
    between = None if drawn.between is None else _Mapped(drawn.between, change)
    return Drawn(change(drawn.values), between=between)


FREE = Free()

LAWS: dict[str, type[PlayCosts]] = {"none": Free, "unit": UnitCosts, "gp": GPCosts, "log-gp": LogGPCosts}
