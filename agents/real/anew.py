"""When an agent begins anew: its values have changed, or a search for the best point expects no gain.

Changes are found by cumulative sums of how much better "anything" predicts a value than the model does. A
value z in the model's unit is compared under N(0, a + 0.3), which knows nothing of its arm, and under
Student's t with 4 degrees of freedom around the posterior (Page 1954). An alarm restarts from where the sum
last was zero.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bandit_envs.basics.types import Floats

ALARM = 4.0  # nats
WIDE = 0.3  # added to the amplitude
DEGREES = 4.0
CONSTANT = math.lgamma(2.5) - math.lgamma(2.0) - 0.5 * math.log(DEGREES * math.pi)


def surprise(z: float, mean: float, variance: float, amplitude: float) -> float:
    """Return log N(z; 0, a + 0.3) - log t_4(z; mean, variance)."""
    wide = amplitude + WIDE
    unknowing = -0.5 * z * z / wide - 0.5 * math.log(2.0 * math.pi * wide)
    square = (z - mean) ** 2 / variance
    predicted = CONSTANT - 0.5 * math.log(variance) - 0.5 * (DEGREES + 1.0) * math.log1p(square / DEGREES)
    return unknowing - predicted


class ChangeSums:
    """The sum, and the rounds of alarms."""

    def __init__(self, alarm: float = ALARM) -> None:
        self._alarm = alarm
        self.alarms: list[int] = []
        self.since = 0  # plays from this round on count
        self._sum, self._zero = 0.0, 0  # and the round that follows where the sum last was zero

    def observe(self, more: float, played: int, now: int) -> bool:
        """Add a surprise of a play of some round, delivered after round `now`; return whether it alarms."""
        self._sum += more
        if self._sum <= 0.0:
            self._sum, self._zero = 0.0, played + 1
        if self._sum <= self._alarm:
            return False
        if now not in self.alarms[-1:]:  # several values may be delivered in a round
            self.alarms.append(now)
        self.since, self._sum = min(self._zero, played), 0.0
        self._zero = self.since
        return True


GAIN = 1e-4  # of the values' std: a smaller one is none
SURE = -9.0  # log EI, in the unit of the values, of a point of which the model expects nothing
SURE_OF = 2  # such values in a row, in turn one under each transform, after which a search is stuck
NEAR = 0.05  # of each side of a box: a best value so close to an earlier search's best is of the same peak
RETURNED, RETURNED_EACH = 5, 3  # values before a search can be known to climb that peak, and more a dimension
STALLED = 10  # values without a gain on a set
RANDOM_EVERY = 3  # of the points asked for from then on


class Peak(NamedTuple):
    """The best of a search."""

    value: float
    point: Floats | None  # in [0, 1]^d; None on a finite set


class Gains:
    """The values of a search in the order of their delivery, and how many there were since the last gain."""

    def __init__(self, since: int, peaks: Sequence[Peak] = ()):
        self.since, self.peaks = since, list(peaks)
        self.flat, self.best = 0, Peak(-math.inf, None)
        self._values: list[float] = []
        self._sure = 0  # latest points of which the model expected nothing

    def add(self, value: float, point: Floats | None, expected: float | None = None) -> None:
        """Take a value, and where it was found on a box.

        Args:
            expected: log EI of the point before; None where no model chose it.
        """
        self._values.append(value)
        if expected is not None:
            self._sure = self._sure + 1 if expected < SURE else 0
        self.flat = 0 if value > self.best.value + self._least_gain else self.flat + 1
        self.best = max(self.best, Peak(value, point), key=lambda peak: peak.value)

    @property
    def _least_gain(self) -> float:
        return GAIN * float(np.std(self._values))

    def stuck(self, dim: int) -> bool:
        """Return True where a search on a box of so many dimensions should begin anew."""
        fresh = len(self._values) < RETURNED + RETURNED_EACH * dim
        return self._sure >= SURE_OF or (not fresh and any(map(self._climbs, self.peaks)))

    def _climbs(self, peak: Peak) -> bool:
        """Return whether this search comes to a peak that an earlier one found, and gains nothing there."""
        assert peak.point is not None
        assert self.best.point is not None
        near = np.abs(self.best.point - peak.point).max() <= NEAR
        return bool(near and self.best.value <= peak.value + self._least_gain)

    @property
    def at_random(self) -> bool:
        """True where the next point of a set should be a random one."""
        return self.flat >= STALLED and self.flat % RANDOM_EVERY == 0
