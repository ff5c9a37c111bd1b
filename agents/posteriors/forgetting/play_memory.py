"""A memory that stores its plays one by one, with their rounds."""

from __future__ import annotations

import abc
from typing import Any

from bandit_envs.basics.types import Floats, Ints
from bandit_envs.kernels.gram import Gram

from ..sufficient_statistics import SufficientStatistics
from .memory import Memory
from .play_rows import PlayRows


class PlayMemory(Memory):
    """Memory of `PlayRows`; a subclass defines the effect of a passing round and of an observation."""

    def __init__(self, gram: Gram, noise: float):
        super().__init__(gram, noise)
        self.now = 0  # the latest round
        self.kept = PlayRows(gram, noise)

    @abc.abstractmethod
    def observe(self, x: int, value: float, age: int, plays: float = 1.0) -> None:
        """Condition on the mean value of some plays of x, `age` rounds before the latest one."""

    def correct(self, x: int, change: float) -> None:
        """Change the value of one play of x in its last row, whose mean changes by the play's share."""
        j = int((self.kept.plays["point"] == x).nonzero()[0][-1])
        self.kept.revalue(j, change * float(self.kept.plays["noise"][j]) / self.noise)

    def rows(self, cells: Ints | None) -> Floats:
        """Return V at some points for the next round, (k, A); None for all N. Read only."""
        return self.kept.at(cells)

    @property
    def factor(self) -> PlayRows:
        """The rows, which are a factor."""
        return self.kept

    @property
    def innovation(self) -> Floats:
        """e, (k,)."""
        return self.kept.innovation

    @property
    def gain(self) -> float:
        """1/2 logdet(I + C / lambda), C the covariances of the observed values."""
        return self.kept.gain

    @property
    def statistics(self) -> SufficientStatistics:
        """Plays and sums of their values."""
        plays = self.kept.plays
        count = self.noise / plays["noise"]
        return SufficientStatistics.merge(plays["point"], count, count * plays["value"])

    def replay(self, other: Any) -> None:
        """Observe the plays of another memory at their present ages."""
        self.now = other.now
        for x, value, noise, _, played, _ in other.kept.plays.tolist():
            self.observe(x, value, self.now - played, other.noise / noise)
