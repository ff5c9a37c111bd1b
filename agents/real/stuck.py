"""When a search for the best point is stuck: its latest values brought no gain."""

from __future__ import annotations

import math

import numpy as np

STALLED = 10  # values without a gain
GAIN = 1e-4  # of the values' std: a smaller one is none
SETTLED, SETTLED_EACH = 22, 3  # values before a search on a box can be stuck: so many, and more a dimension
RANDOM_EVERY = 3  # of the points asked for on a set while nothing is gained


class Gains:
    """The values of a search in the order of their delivery, and how many there were since the last gain."""

    def __init__(self, since: int):
        self.since = since  # first round of the search
        self.flat, self._best = 0, -math.inf
        self._values: list[float] = []

    def add(self, value: float) -> None:
        """Take a value."""
        self._values.append(value)
        gained = value > self._best + GAIN * float(np.std(self._values))
        self.flat = 0 if gained else self.flat + 1
        self._best = max(self._best, value)

    def stuck(self, dim: int) -> bool:
        """Return True where a search on a box of so many dimensions should begin anew."""
        return self.flat >= STALLED and len(self._values) >= SETTLED + SETTLED_EACH * dim

    @property
    def at_random(self) -> bool:
        """True where the next point of a set should be a random one."""
        return self.flat >= STALLED and self.flat % RANDOM_EVERY == 0
