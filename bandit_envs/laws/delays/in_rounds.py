"""Draw delays in rounds: the number of later rounds that start before the feedback is seen."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import pdtrc

from bandit_envs.basics.arguments import LARGEST_COUNT, is_integer, require
from bandit_envs.basics.types import Floats
from bandit_envs.laws.delays.base import TAIL, Delay
from bandit_envs.laws.parameters import count, not_negative, parameter, positive

LARGEST_MEAN = 1e9  # of a Poisson law: `quantile` counts up from the mean
WHOLE = "0 or a positive integer"


def _is_whole(value: Any) -> bool:
    return is_integer(value) and 0 <= value <= LARGEST_COUNT


@dataclass(frozen=True)
class Immediate(Delay):
    """Deliver feedback in the round itself."""

    def draw_waits(self, horizon: int, rng: np.random.Generator) -> Floats:
        return np.zeros(horizon)

    def quantile(self, late: float = TAIL) -> float:
        return 0.0


@dataclass(frozen=True)
class Constant(Delay):
    """Delay every feedback by `rounds` rounds: asynchronous batches of rounds + 1."""

    rounds: int = parameter(10, WHOLE, _is_whole)

    def draw_waits(self, horizon: int, rng: np.random.Generator) -> Floats:
        return np.full(horizon, float(self.rounds))

    def quantile(self, late: float = TAIL) -> float:
        return float(self.rounds)


@dataclass(frozen=True)
class Cyclic(Delay):
    """Delay by b - 1, b - 2, ..., 0, and again: b = `batch` plays get their feedback together (batch BO)."""

    batch: int = count(10)

    def draw_waits(self, horizon: int, rng: np.random.Generator) -> Floats:
        return (self.batch - 1 - np.arange(horizon) % self.batch).astype(np.float64)

    def quantile(self, late: float = TAIL) -> float:
        return self.batch - 1.0


@dataclass(frozen=True)
class Poisson(Delay):
    """Draw independent Poisson delays (Verma et al. 2022, Section 6)."""

    mean: float = not_negative(10.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        longest = f"at most {LARGEST_MEAN:g}, longer than any run"
        require(self.mean <= LARGEST_MEAN, "mean", longest, self.mean)

    def draw_waits(self, horizon: int, rng: np.random.Generator) -> Floats:
        return rng.poisson(self.mean, horizon).astype(np.float64)

    def quantile(self, late: float = TAIL) -> float:
        k = int(self.mean)  # the median is at least this
        while pdtrc(k, self.mean) > late:
            k += 1
        return float(k)


@dataclass(frozen=True)
class Geometric(Delay):
    """Draw P(d = k) = p (1 - p)^k, mean (1 - p) / p: each later round delivers with probability p."""

    mean: float = positive(10.0)

    def draw_waits(self, horizon: int, rng: np.random.Generator) -> Floats:
        return (rng.geometric(1.0 / (1.0 + self.mean), horizon) - 1).astype(np.float64)

    def quantile(self, late: float = TAIL) -> float:
        """Solve P(d > k) = (1 - p)^(k + 1) <= late, where -log(1 - p) = log(1 + 1 / mean)."""
        return max(math.ceil(-math.log(late) / math.log1p(1.0 / self.mean)) - 1.0, 0.0)


@dataclass(frozen=True)
class Uniform(Delay):
    """Draw every whole number of rounds from `low` to `high`, both included, with equal probability."""

    low: int = parameter(0, WHOLE, _is_whole)
    high: int = 20

    def __post_init__(self) -> None:
        super().__post_init__()
        valid = _is_whole(self.high) and self.high >= self.low
        require(valid, "high", "an integer >= low", self.high)

    def draw_waits(self, horizon: int, rng: np.random.Generator) -> Floats:
        return rng.integers(self.low, self.high, horizon, endpoint=True).astype(np.float64)

    def quantile(self, late: float = TAIL) -> float:
        """Solve P(d > k) = (high - k) / n <= late, n the number of delays."""
        number = self.high - self.low + 1
        return float(self.high - math.floor(late * number * (1.0 + 1e-12)))  # 0.05 * 20 must be 1


@dataclass(frozen=True)
class HeavyTailed(Delay):
    """Draw discrete Pareto delays: P(d >= k) = (1 + k / scale)^(-tail), the floor of a Lomax variable.

    The mean is infinite where `tail` is 1 or less; some feedback then exceeds any practical window.
    """

    tail: float = positive(1.0)
    scale: float = positive(1.0)

    def draw_waits(self, horizon: int, rng: np.random.Generator) -> Floats:
        return np.floor(self.scale * rng.pareto(self.tail, horizon))

    def quantile(self, late: float = TAIL) -> float:
        """Solve (1 + (k + 1) / scale)^(-tail) <= late; no horizon reaches 1e-6 where the tail is heavy."""
        exponent = min(-math.log(late) / self.tail, 700.0)  # exp overflows beyond
        return float(max(np.ceil(self.scale * math.expm1(exponent)) - 1.0, 0.0))


LAWS: dict[str, type[Delay]] = {
    "immediate": Immediate,
    "constant": Constant,
    "cyclic": Cyclic,
    "poisson": Poisson,
    "geometric": Geometric,
    "uniform": Uniform,
    "heavy-tailed": HeavyTailed,
}
