"""Define the interface of delay laws: draws that no action changes, and their meaning in rounds."""

import abc
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from bandit_envs.basics.types import Floats
from bandit_envs.laws.parameters import Checked, probability

TAIL = 1e-6  # share of the feedback that the default window of the environment may lose


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
    lost: float = probability(0.0)

    def draw(self, horizon: int, rng: np.random.Generator) -> Floats:
        """Return the wait of each round, (T,); infinite where the feedback is never delivered."""
        waits = np.asarray(self.draw_waits(horizon, rng), dtype=np.float64)
        if self.lost:  # drawn last: `lost` leaves the other waits as they were
            waits = np.where(rng.random(horizon) < self.lost, np.inf, waits)
        return waits

    def wait(self, drawn: Any, shortfall: Any) -> Any:
        """Return the waits of plays from the draws of their rounds, (n,) -> (n,); here the draws themselves.

        The shortfall is the best mean minus the reward as a share of the range, in [0, 1].
        """
        return drawn

    def in_rounds(self, waits: Floats) -> Floats:
        """Return stretched waits in whole rounds, infinity included; here rounded down, (n,) -> (n,)."""
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

    @abc.abstractmethod
    def draw_waits(self, horizon: int, rng: np.random.Generator) -> Floats:
        """Return the wait of each round, (T,), as if nothing were lost."""

    @abc.abstractmethod
    def quantile(self, late: float = TAIL) -> float:
        """Return the smallest wait w with P(wait > w) <= late, in (0, 1/2), for feedback that is not lost."""
