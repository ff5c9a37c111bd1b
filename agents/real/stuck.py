"""When a search for the best point is stuck: its latest values brought no gain."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bandit_envs.basics.types import Floats

STALLED = 10  # values without a gain
GAIN = 1e-4  # of the values' std: a smaller one is none
SETTLED, SETTLED_EACH = 22, 3  # values before a search on a box can be stuck: so many, and more a dimension
NEAR = 0.05  # of each side of a box: a best value so close to an earlier search's best is of the same peak
RETURNED, RETURNED_EACH = 5, 3  # values before a search can be known to climb that peak, and more a dimension
RANDOM_EVERY = 3  # of the points asked for on a set while nothing is gained


class Peak(NamedTuple):
    """The best of a search."""

    value: float
    point: Floats | None  # in [0, 1]^d; None on a finite set


class Gains:
    """The values of a search in the order of their delivery, and how many there were since the last gain.

    Args:
        since: first round of the search.
        peaks: the best of each earlier search.
    """

    def __init__(self, since: int, peaks: Sequence[Peak] = ()):
        self.since, self.peaks = since, list(peaks)
        self.flat, self.best = 0, Peak(-math.inf, None)
        self._values: list[float] = []

    def add(self, value: float, point: Floats | None) -> None:
        """Take a value, and where it was found on a box."""
        self._values.append(value)
        self.flat = 0 if value > self.best.value + self._least_gain else self.flat + 1
        self.best = max(self.best, Peak(value, point), key=lambda peak: peak.value)

    @property
    def _least_gain(self) -> float:
        return GAIN * float(np.std(self._values))

    def stuck(self, dim: int) -> bool:
        """Return True where a search on a box of so many dimensions should begin anew."""
        known = len(self._values)
        settled = self.flat >= STALLED and known >= SETTLED + SETTLED_EACH * dim
        return settled or (known >= RETURNED + RETURNED_EACH * dim and any(map(self._climbs, self.peaks)))

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
