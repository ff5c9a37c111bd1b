"""What a tuner makes better, and its values in the unit of the agent."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bandit_envs.basics.arguments import require
from bandit_envs.basics.types import Floats

from ..named import is_name
from ..real.values import above_median

GOALS = {"maximise": 1.0, "minimise": -1.0}
AMERICAN = {"maximize": "maximise", "minimize": "minimise"}
FEWEST_TAMED = 8  # values that tell of a tail
TAIL = 6.0  # units below the median: values further below are drawn near; 3 and 4 cost regret without tails


@dataclass(frozen=True)
class Scale:
    """reward = (t(sign value) - centre) / std, where t draws what is far below the other values near.

    t(s) = s for s >= knee, else knee - u g / (u + g), g = knee - s; u is the root mean square of what lies
    above the median. Where values lie more than six u below it, the knee is the worst of the others: no
    penalty is more than a unit below them, as a cliff bends a smooth model on both of its sides.
    """

    sign: float  # 1 to maximise, -1 to minimise
    centre: float = 0.0  # of the signed values
    std: float = 1.0
    knee: float = -math.inf
    unit: float = 1.0

    @classmethod
    def of(cls, goal: str, values: Sequence[float], tamed: bool = False) -> Scale:
        """Return the scale of some values; std 1 where all are equal, centre 0 where there are none."""
        sign = sign_of(goal)
        signed = sign * np.asarray(values, dtype=np.float64)
        if len(signed) == 0:
            return cls(sign)
        near = cls._near(sign, signed) if tamed and len(signed) >= FEWEST_TAMED else cls(sign)
        t = np.array([*map(near.tamed, signed.tolist())])
        _, power = np.frexp(np.abs(t).max())  # exact scaling, so that no square can overflow
        small = np.ldexp(t, -power)
        differ = small.min() < small.max()  # rounding would give equal numbers a positive std
        std = float(np.ldexp(small.std(ddof=1), power)) if differ else 1.0
        return replace(near, centre=float(np.ldexp(small.mean(), power)), std=std)

    @classmethod
    def _near(cls, sign: float, signed: Floats) -> Scale:
        """Return a scale with the knee and the unit of signed values."""
        middle = float(np.median(signed))
        _, power = np.frexp(signed.max() - middle)  # likewise
        with np.errstate(over="ignore"):  # of what is far below
            _, square = above_median(np.ldexp(signed - middle, -power))
        unit = float(np.ldexp(math.sqrt(square), power))
        if not unit:
            return cls(sign)
        knee = middle - TAIL * unit
        far = signed < knee
        return cls(sign, 0.0, 1.0, float(signed[~far].min()) if far.any() else knee, unit)

    def tamed(self, signed: float) -> float:
        """Return t of a signed value."""
        if signed >= self.knee:
            return signed
        gap = self.knee - signed
        return self.knee - self.unit * (gap / (self.unit + gap))

    def reward(self, value: float) -> float:
        """Return the agent's reward of a value."""
        return (self.tamed(self.sign * value) - self.centre) / self.std

    def value(self, reward: float) -> float:
        """Return the value that a reward stands for, where it is not drawn near."""
        return self.sign * (self.centre + self.std * reward)


def goal_of(given: Any) -> str:
    """Return a key of GOALS, given in either spelling, or raise."""
    require(is_name(given, *GOALS, *AMERICAN), "goal", " or ".join(map(repr, GOALS)), given)
    return given if given in GOALS else AMERICAN[given]


def sign_of(goal: str) -> float:
    """Return 1 to maximise, -1 to minimise."""
    return GOALS[goal_of(goal)]
