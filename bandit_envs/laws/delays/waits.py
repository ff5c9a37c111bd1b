"""Delay laws: what all have, and those that no play changes, in rounds or in units of time.

In units of time round t starts at time t * interval, without waiting (Verma et al. 2022, A.4).
"""

import abc
import math
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Any

import numpy as np
from scipy.special import ndtr, ndtri, pdtr, pdtrc

from bandit_envs.basics.arguments import require
from bandit_envs.basics.options import Checked, count, fraction, not_negative, number, positive, whole
from bandit_envs.basics.types import Floats

TAIL = 1e-6  # share of the feedback that the default window of the environment may lose
LARGEST_MEAN = 1e9  # of a Poisson law: `quantile` counts up from the mean
NO_LONGER = number(f"at most {LARGEST_MEAN:g}, longer than any run", lambda mean: mean <= LARGEST_MEAN)
LARGEST_SIGMA = 100.0  # std of logarithms: with a larger one waits are 0 or overflow


@dataclass(frozen=True)
class Delay(Checked, abc.ABC):
    """Delay the feedback of round t by d: it is in the `info` of the step of round t + d.

    The law draws a *wait*, in rounds or in units of time, before any arm is chosen. `slowdown` multiplies it
    by a factor of the played arm, and `in_rounds` turns the result into a delay. So all agents meet the same
    waits, whatever they play. A law that depends on rewards draws uniforms, which `wait` turns into waits
    once the reward is known.

    Args:
        lost: probability that a round's feedback is never delivered.
    """

    depends_on_rewards = False  # whether waits depend on rewards
    is_measured = False  # whether it holds what was measured with each arm, and so is never published

    _: KW_ONLY
    lost: Annotated[float, fraction()] = 0.0

    def draw(self, horizon: int, rng: np.random.Generator) -> Floats:
        """Return the wait of each round, (T,); infinite where the feedback is never delivered."""
        waits = np.asarray(self.draw_waits(horizon, rng), dtype=np.float64)
        if self.lost:  # drawn last: `lost` leaves the other waits as they were
            waits = np.where(rng.random(horizon) < self.lost, np.inf, waits)
        return waits

    def wait(self, drawn: Any, shortfall: Any, reward: Any) -> Any:
        """Return the waits of plays from the draws of their rounds, (n,) -> (n,); here the draws themselves.

        The shortfall is the best mean minus the reward as a share of the range, in [0, 1].
        """
        return drawn

    def in_rounds(self, waits: Floats) -> Floats:
        """Return stretched waits in whole rounds, (n,) -> (n,), of 0 always 0; here rounded down."""
        return np.floor(waits)

    def slowdown(self, features: Floats) -> Floats:
        """Return the factor on the wait of plays with features in [0, 1]^d, (n, d) -> (n,); here 1."""
        return np.ones(len(features))

    def query_times(self, horizon: int) -> Floats | None:
        """Return the start time of each round, (T,), where waits are in units of time; else None."""
        return None

    def window(self, horizon: int, times: Floats | None = None, late: float = TAIL) -> int:
        """Return the smallest k with P(d > k) <= 1e-6 for feedback that is not lost, at most horizon - 1.

        Args:
            times: start times of rounds, (T,), if not the law's own; waits are then in their units.
            late: the share that is later, in place of 1e-6.
        """
        if times is not None:
            starts = np.asarray(times, dtype=np.float64)
            known = np.searchsorted(starts, starts + self.quantile(late)) - 1  # `info` of the last round
            return int(min(np.maximum(known - np.arange(len(starts)), 0).max(), horizon - 1))
        longest = self.in_rounds(np.array([self.quantile(late)]))
        return int(min(longest[0], horizon - 1))

    def delivered_by(self, rounds: Floats) -> Floats | None:
        """Return P(d <= k) of feedback that is not lost, (K,) whole numbers k >= 0 -> (K,).

        Return None where there is no formula, or where it depends on what is played.
        """
        return None

    @abc.abstractmethod
    def draw_waits(self, horizon: int, rng: np.random.Generator) -> Floats:
        """Return the wait of each round, (T,), as if nothing were lost."""

    @abc.abstractmethod
    def quantile(self, late: float = TAIL) -> float:
        """Return the smallest wait w with P(wait > w) <= late, in (0, 1/2), for feedback that is not lost."""


@dataclass(frozen=True)
class Immediate(Delay):
    """Deliver feedback in the round itself."""

    def delivered_by(self, rounds: Floats) -> Floats:
        return np.ones(len(rounds))

    def draw_waits(self, horizon: int, rng: np.random.Generator) -> Floats:
        return np.zeros(horizon)

    def quantile(self, late: float = TAIL) -> float:
        return 0.0


@dataclass(frozen=True)
class Constant(Delay):
    """Delay every feedback by `rounds` rounds: asynchronous batches of rounds + 1."""

    rounds: Annotated[int, whole(0)] = 10

    def delivered_by(self, rounds: Floats) -> Floats:
        return (rounds >= self.rounds).astype(np.float64)

    def draw_waits(self, horizon: int, rng: np.random.Generator) -> Floats:
        return np.full(horizon, float(self.rounds))

    def quantile(self, late: float = TAIL) -> float:
        return float(self.rounds)


@dataclass(frozen=True)
class Cyclic(Delay):
    """Delay by b - 1, b - 2, ..., 0, and again: b = `batch` plays get their feedback together (batch BO)."""

    batch: Annotated[int, count()] = 10

    def delivered_by(self, rounds: Floats) -> Floats:
        """Return the average over the rounds of a batch."""
        return np.minimum((rounds + 1.0) / self.batch, 1.0)

    def draw_waits(self, horizon: int, rng: np.random.Generator) -> Floats:
        return (self.batch - 1 - np.arange(horizon) % self.batch).astype(np.float64)

    def quantile(self, late: float = TAIL) -> float:
        return self.batch - 1.0


@dataclass(frozen=True)
class PoissonDelay(Delay):
    """Draw independent Poisson delays (Verma et al. 2022, Section 6)."""

    mean: Annotated[float, not_negative(), NO_LONGER] = 10.0

    def delivered_by(self, rounds: Floats) -> Floats:
        return pdtr(rounds, self.mean)

    def draw_waits(self, horizon: int, rng: np.random.Generator) -> Floats:
        return rng.poisson(self.mean, horizon).astype(np.float64)

    def quantile(self, late: float = TAIL) -> float:
        k = int(self.mean)  # the median is at least this
        while pdtrc(k, self.mean) > late:
            k += 1
        return float(k)


@dataclass(frozen=True)
class GeometricDelay(Delay):
    """Draw P(d = k) = p (1 - p)^k, mean (1 - p) / p: each later round delivers with probability p."""

    mean: Annotated[float, positive()] = 10.0

    def delivered_by(self, rounds: Floats) -> Floats:
        """Return 1 - (1 - p)^(k + 1), where -log(1 - p) = log(1 + 1 / mean)."""
        return -np.expm1(-(rounds + 1.0) * math.log1p(1.0 / self.mean))

    def draw_waits(self, horizon: int, rng: np.random.Generator) -> Floats:
        return (rng.geometric(1.0 / (1.0 + self.mean), horizon) - 1).astype(np.float64)

    def quantile(self, late: float = TAIL) -> float:
        """Solve P(d > k) = (1 - p)^(k + 1) <= late, where -log(1 - p) = log(1 + 1 / mean)."""
        return max(math.ceil(-math.log(late) / math.log1p(1.0 / self.mean)) - 1.0, 0.0)


@dataclass(frozen=True)
class UniformDelay(Delay):
    """Draw every whole number of rounds from `low` to `high`, both included, with equal probability."""

    low: Annotated[int, whole(0)] = 0
    high: int = 20

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.high >= self.low, "high", "an integer >= low", self.high)

    def delivered_by(self, rounds: Floats) -> Floats:
        return np.clip((rounds - self.low + 1.0) / (self.high - self.low + 1.0), 0.0, 1.0)

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

    tail: Annotated[float, positive()] = 1.0
    scale: Annotated[float, positive()] = 1.0

    def delivered_by(self, rounds: Floats) -> Floats:
        """Return 1 - (1 + (k + 1) / scale)^(-tail)."""
        return -np.expm1(-self.tail * np.log1p((rounds + 1.0) / self.scale))

    def draw_waits(self, horizon: int, rng: np.random.Generator) -> Floats:
        return np.floor(self.scale * rng.pareto(self.tail, horizon))

    def quantile(self, late: float = TAIL) -> float:
        """Solve (1 + (k + 1) / scale)^(-tail) <= late; no horizon reaches 1e-6 where the tail is heavy."""
        exponent = min(-math.log(late) / self.tail, 700.0)  # exp overflows beyond
        return float(max(np.ceil(self.scale * math.expm1(exponent)) - 1.0, 0.0))


@dataclass(frozen=True)
class DelayInTime(Delay):
    """Draw waits of a continuous law with the stated mean.

    The play of round s starts at tau_s and its feedback is available from tau_s + w on. The `info` of round r
    holds what is available when round r + 1 starts, so it holds that feedback if tau_s + w <= tau_{r+1}, in
    rounds d = max(ceil(w / interval) - 1, 0): never before the round itself is over.

    Args:
        mean: of the waits, in units of time.
        interval: between the starts of two rounds.
    """

    mean: Annotated[float, positive()] = 10.0
    interval: Annotated[float, positive()] = 1.0

    def in_rounds(self, waits: Floats) -> Floats:
        return np.maximum(np.ceil(waits / self.interval) - 1.0, 0.0)

    def query_times(self, horizon: int) -> Floats:
        return self.interval * np.arange(horizon, dtype=np.float64)


@dataclass(frozen=True)
class Exponential(DelayInTime):
    """Draw exponential waits, which are memoryless."""

    def delivered_by(self, rounds: Floats) -> Floats:
        """Return P(w <= (k + 1) interval)."""
        return -np.expm1(-(rounds + 1.0) * self.interval / self.mean)

    def draw_waits(self, horizon: int, rng: np.random.Generator) -> Floats:
        return self.mean * rng.standard_exponential(horizon)

    def quantile(self, late: float = TAIL) -> float:
        return -self.mean * math.log(late)


@dataclass(frozen=True)
class LogNormal(DelayInTime):
    """Draw waits whose logarithm is normal with std `sigma`: mean exp(sigma z - sigma^2 / 2)."""

    sigma: Annotated[
        float, number(f"a number in [0, {LARGEST_SIGMA:g}]", lambda sigma: 0 <= sigma <= LARGEST_SIGMA)
    ] = 1.0

    def delivered_by(self, rounds: Floats) -> Floats:
        """Return P(w <= (k + 1) interval), a step where sigma is 0."""
        above = np.log((rounds + 1.0) * self.interval / self.mean) + self.sigma**2 / 2.0
        return ndtr(above / self.sigma) if self.sigma else (above >= 0.0).astype(np.float64)

    def draw_waits(self, horizon: int, rng: np.random.Generator) -> Floats:
        return self.mean * np.exp(self.sigma * rng.standard_normal(horizon) - self.sigma**2 / 2.0)

    def quantile(self, late: float = TAIL) -> float:
        return float(self.mean * np.exp(-self.sigma * ndtri(late) - self.sigma**2 / 2.0))


BASES: dict[str, type[Delay]] = {
    "immediate": Immediate,
    "constant": Constant,
    "cyclic": Cyclic,
    "poisson": PoissonDelay,
    "geometric": GeometricDelay,
    "uniform": UniformDelay,
    "heavy-tailed": HeavyTailed,
    "exponential": Exponential,
    "log-normal": LogNormal,
}
