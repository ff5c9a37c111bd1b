"""Draw continuous delays: round t starts at time t * interval, without waiting (Verma et al. 2022, A.4)."""

import abc
import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from bandit_envs.basics.types import Floats
from bandit_envs.laws.delays.base import TAIL, Delay
from bandit_envs.laws.parameters import number, positive

LARGEST_SIGMA = 100.0  # std of logarithms: with a larger one waits are 0 or overflow


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

    mean: float = positive(10.0)
    interval: float = positive(1.0)

    def in_rounds(self, waits: Floats) -> Floats:
        return np.maximum(np.ceil(waits / self.interval) - 1.0, 0.0)

    def query_times(self, horizon: int) -> Floats:
        return self.interval * np.arange(horizon, dtype=np.float64)

    def draw_waits(self, horizon: int, rng: np.random.Generator) -> Floats:
        return self.mean * self._draw_relative(horizon, rng)

    @abc.abstractmethod
    def _draw_relative(self, horizon: int, rng: np.random.Generator) -> Floats:
        """Draw waits of mean 1, (T,)."""


@dataclass(frozen=True)
class Exponential(DelayInTime):
    """Draw exponential waits, which are memoryless."""

    def _draw_relative(self, horizon: int, rng: np.random.Generator) -> Floats:
        return rng.standard_exponential(horizon)

    def quantile(self, late: float = TAIL) -> float:
        return -self.mean * math.log(late)


@dataclass(frozen=True)
class LogNormal(DelayInTime):
    """Draw waits whose logarithm is normal with std `sigma`: mean exp(sigma z - sigma^2 / 2)."""

    sigma: float = number(
        1.0, f"a number in [0, {LARGEST_SIGMA:g}]", lambda sigma: 0 <= sigma <= LARGEST_SIGMA
    )

    def _draw_relative(self, horizon: int, rng: np.random.Generator) -> Floats:
        return np.exp(self.sigma * rng.standard_normal(horizon) - self.sigma**2 / 2.0)

    def quantile(self, late: float = TAIL) -> float:
        return float(self.mean * np.exp(-self.sigma * ndtri(late) - self.sigma**2 / 2.0))


LAWS: dict[str, type[Delay]] = {"exponential": Exponential, "log-normal": LogNormal}
