"""Detection of changes: cumulative sums of how much better "anything" predicts a value than the model does.

A value z in the model's unit is compared under N(0, a + 0.3), which knows nothing of its arm, and under
Student's t with 4 degrees of freedom around the posterior (Page 1954). An alarm restarts from where the sum
last was zero.
"""

from __future__ import annotations

import math

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
