"""What every law of delays supplies: a draw that no action changes, and its meaning in rounds."""

from __future__ import annotations

import abc
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from bandit_envs.basics.arguments import is_number, require
from bandit_envs.basics.types import Floats

TAIL = 1e-6  # share of the feedback that the default window of the environment may lose


@dataclass(frozen=True)
class Delay(abc.ABC):
    """Delay d of round t: its feedback is in the `info` of the step of round t + d.

    A *wait* is what the law draws, in rounds or in units of time, before any arm is known. The arm that is
    played stretches it by `slowdown`, and `in_rounds` turns the result into a delay. So all agents meet
    the same waits, whatever they play. A law that looks at rewards draws uniforms, which `wait` turns into
    waits when a reward is known.

    Args:
        lost: probability that a round's feedback never arrives.
    """

    looks_at_rewards = False  # whether waits depend on what is earned

    _: KW_ONLY
    lost: float = 0.0

    def __post_init__(self) -> None:
        require(is_number(self.lost) and 0 <= self.lost <= 1, "lost", "a probability", self.lost)

    def draw(self, horizon: int, rng: np.random.Generator) -> Floats:
        """Wait of each round, (T,); infinite where the feedback never arrives."""
        waits = np.asarray(self._draw_waits(horizon, rng), dtype=np.float64)
        # The uniforms are drawn last and always: `lost` leaves the other waits as they were.
        return np.where(rng.random(horizon) < self.lost, np.inf, waits)

    def wait(self, drawn: Any, shortfall: Any) -> Any:
        """Waits of plays from what was drawn, (n,) -> (n,); here that is them.

        Args:
            drawn: of their rounds.
            shortfall: how much less than the best they earned, as a share of the range, in [0, 1].
        """
        return drawn

    def in_rounds(self, waits: Floats) -> Floats:
        """Whole rounds of stretched waits, infinity included; here rounded down, (n,) -> (n,)."""
        return np.floor(waits)

    def slowdown(self, features: Floats) -> Floats:
        """Factor on the wait of plays with features in [0, 1]^d, (n, d) -> (n,); here 1."""
        return np.ones(len(features))

    def query_times(self, horizon: int) -> Floats | None:
        """When each round starts, (T,), where waits are in units of time; else None."""
        return None

    def window(self, horizon: int, times: Floats | None = None, late: float = TAIL) -> int:
        """Smallest k with P(d > k) <= 1e-6 for feedback that is not lost, at most horizon - 1.

        Args:
            horizon: number of rounds T.
            times: when rounds start, (T,), where they are not the law's own; waits are then in their units.
            late: the share that comes later, in place of 1e-6.
        """
        if times is not None:
            return min(_longest(self.quantile(late), np.asarray(times, dtype=np.float64)), horizon - 1)
        longest = self.in_rounds(np.array([self.quantile(late)]))
        return int(min(longest[0], horizon - 1))

    @abc.abstractmethod
    def _draw_waits(self, horizon: int, rng: np.random.Generator) -> Floats:
        """Wait of each round, (T,), as if nothing were lost."""

    @abc.abstractmethod
    def quantile(self, late: float = TAIL) -> float:
        """The smallest wait w with P(wait > w) <= late for feedback that is not lost.

        Args:
            late: the share that comes later, in (0, 1/2).
        """


def require_positive(argument: str, value: Any) -> None:
    """Raise unless a parameter of a delay law is a positive, finite number."""
    require(is_number(value) and value > 0, argument, "positive", value)


def _longest(wait: float, times: Floats) -> int:
    """The most rounds from a play to the `info` that knows what came after a wait, of rounds that start so.

    That of round r knows what is there when round r + 1 starts, or never in this run.
    """
    known = np.searchsorted(times, times + wait) - 1
    return int(np.maximum(known - np.arange(len(times)), 0).max())
