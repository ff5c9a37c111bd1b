"""Values of experiments in the units of the agent: larger is better, mean 0, std 1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bandit_envs.basics.arguments import require

GOALS = {"maximise": 1.0, "minimise": -1.0}


@dataclass(frozen=True)
class Scale:
    """reward = (sign value - centre) / deviation.

    Args:
        sign: 1 to maximise, -1 to minimise.
        centre, deviation: of the signed values.
    """

    sign: float
    centre: float = 0.0
    deviation: float = 1.0

    @classmethod
    def of(cls, goal: str, values: Sequence[float]) -> Scale:
        """Return the scale of some values; std 1 where all are equal, centre 0 where there are none."""
        sign = sign_of(goal)
        signed = sign * np.asarray(values, dtype=np.float64)
        if len(signed) == 0:
            return cls(sign)
        _, power = np.frexp(np.abs(signed).max())  # exact scaling, so that no square can overflow
        small = np.ldexp(signed, -power)
        differ = small.min() < small.max()  # rounding would give equal numbers a positive std
        deviation = float(np.ldexp(small.std(ddof=1), power)) if differ else 1.0
        return cls(sign, float(np.ldexp(small.mean(), power)), deviation)

    def reward(self, value: float) -> float:
        """Return the agent's reward of a value."""
        return (self.sign * value - self.centre) / self.deviation

    def value(self, reward: float) -> float:
        """Return the inverse of `reward`."""
        return self.sign * (self.centre + self.deviation * reward)


def sign_of(goal: str) -> float:
    """Return 1 to maximise, -1 to minimise."""
    require(isinstance(goal, str) and goal in GOALS, "goal", " or ".join(map(repr, GOALS)), goal)
    return GOALS[goal]
