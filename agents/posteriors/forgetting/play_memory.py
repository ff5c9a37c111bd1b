"""A memory that knows its plays one by one, with the rounds in which they were played."""

from __future__ import annotations

import abc
from typing import Any

from bandit_envs.basics.types import Floats, Ints
from bandit_envs.kernels.gram import Gram

from ..sufficient_statistics import SufficientStatistics
from .memory import Memory
from .play_rows import PlayRows


class PlayMemory(Memory):
    """Keeps `PlayRows`; a subclass says what a passing round and an observation do to them."""

    def __init__(self, gram: Gram, noise: float):
        super().__init__(gram, noise)
        self.now = 0  # the latest round
        self.kept = PlayRows(gram, noise)

    @abc.abstractmethod
    def observe(self, x: int, value: float, age: int, plays: float = 1.0) -> None:
        """Learn the mean value of some plays of x in the round `age` rounds before the latest one."""

    def correct(self, x: int, change: float) -> None:
        """Change the value of one play of x, of those that came last: their mean by its share."""
        j = int((self.kept.plays["point"] == x).nonzero()[0][-1])
        self.kept.revalue(j, change * float(self.kept.plays["noise"][j]) / self.noise)

    def rows(self, cells: Ints | None) -> Floats:
        """V at some points for the next round, (k, A); None is all N. Read only."""
        return self.kept.at(cells)

    @property
    def factor(self) -> PlayRows:
        """The rows themselves."""
        return self.kept

    @property
    def innovation(self) -> Floats:
        """e, (k,)."""
        return self.kept.innovation

    @property
    def gain(self) -> float:
        """1/2 logdet(I + C / lambda), C the covariances of what the plays observed."""
        return self.kept.gain

    @property
    def statistics(self) -> SufficientStatistics:
        """Plays and sums of their values."""
        plays = self.kept.plays
        count = self.noise / plays["noise"]
        return SufficientStatistics.merge(plays["point"], count, count * plays["value"])

    def replay(self, other: Any) -> None:
        """Observe the plays of another memory as old as they are."""
        self.now = other.now
        for x, value, noise, _, played, _ in other.kept.plays.tolist():
            self.observe(x, value, self.now - played, other.noise / noise)
