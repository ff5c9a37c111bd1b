"""Plays and sums of their values at every point, and the information gain."""

import math

import numpy as np

from bandit_envs.basics.types import Floats, Ints

from .base import SufficientStatistics

LONGEST = 256  # entries, to bound the memory


class PlayCounts:
    """Plays and value sums, (B, N), brought up to date when they are read, and information gain, (B,).

    Indexed additions would take a tenth of a step of one trial, and most agents never read the counts. The
    gain is added up at once, because widths read it in every round.
    """

    def __init__(self, noise: Floats, num_points: int):
        self._noise_std = np.sqrt(noise)  # (B,)
        self._count = np.zeros((len(noise), num_points))
        self._total = np.zeros((len(noise), num_points))
        self.gain = np.zeros(len(noise))  # information gain, (B,): sums of 1/2 log(s / lambda)
        self._entries: list[tuple[Ints, Floats]] = []
        self._singles: list[tuple[int, int, float]] = []
        self._played: dict[int, Ints] = {}  # of trials that asked for it, until it changes

    def write(self, cell: Ints, value: Floats, scale: Floats) -> None:
        """Record plays, (n,) each, whose arrays then belong to the counts.

        `cell` indexes the flattened (B, N); `scale` is the predictive std sqrt(s) of the value.
        """
        self._entries.append((cell, value))
        if len(cell) == len(self.gain):
            self.gain += np.log(scale / self._noise_std)
        else:
            trial = cell // self._count.shape[1]
            self.gain[trial] += np.log(scale / self._noise_std[trial])
        if len(self._entries) == LONGEST:
            self._sum()

    def write_one(self, trial: int, point: int, value: float, scale: float) -> None:
        """Record one play; see `write`."""
        self._singles.append((trial, point, value))
        self.gain[trial] = self.gain.item(trial) + math.log(scale / self._noise_std.item(trial))
        if len(self._singles) == LONGEST:
            self._sum()

    def write_sums(self, trial: Ints, cell: Ints, plays: Floats, total: Floats, ratio: Floats) -> None:
        """Record several plays of one cell a trial, (n,) each, without repeats, and the sums of their values.

        `ratio` is sqrt(s / lambda) of their mean, whose noise is lambda.
        """
        self._sum()
        self._played.clear()
        self._count.ravel()[cell] += plays
        self._total.ravel()[cell] += total
        self.gain[trial] += np.log(ratio)

    @property
    def count(self) -> Floats:
        """Plays, (B, N)."""
        self._sum()
        return self._count

    @property
    def total(self) -> Floats:
        """Sums of the values, (B, N)."""
        self._sum()
        return self._total

    def played(self, trial: int) -> Ints:
        """Return a trial's distinct played points, ascending, (u,), without reading all counts. Read only."""
        self._sum()
        played = self._played.get(trial)
        if played is None:
            played = self._played[trial] = self._count[trial].nonzero()[0]
        return played

    def reset(self, trial: Ints) -> None:
        """Clear all plays of the given trials, (n,)."""
        self._sum()
        self._count[trial] = self._total[trial] = 0.0
        self.gain[trial] = 0.0
        self._played.clear()

    def restore(self, trial: int, seen: SufficientStatistics) -> None:
        """Replace plays and value sums of one trial; its gain stays."""
        self._sum()
        self._count[trial] = self._total[trial] = 0.0
        self._count[trial, seen.point], self._total[trial, seen.point] = seen.plays, seen.total
        self._played.clear()

    def _sum(self) -> None:
        if len(self._singles) == 1 and not self._entries:  # of a rule that reads the plays in every round
            trial, point, value = self._singles.pop()
            seen = self._count.item(trial, point)
            if not seen:
                self._note_first(trial, point)
            self._count[trial, point] = seen + 1.0
            self._total[trial, point] += value
            return
        if self._singles:
            trials, points, values = map(np.array, zip(*self._singles, strict=True))
            self._entries.insert(0, (trials * self._count.shape[1] + points, values))
            self._singles.clear()
        if not self._entries:
            return
        cell, values = map(np.concatenate, zip(*self._entries, strict=True))
        self._entries.clear()
        for first in cell[self._count.ravel()[cell] == 0.0].tolist():
            self._note_first(*divmod(first, self._count.shape[1]))
        np.add.at(self._count.ravel(), cell, 1.0)
        np.add.at(self._total.ravel(), cell, values)

    def _note_first(self, trial: int, point: int) -> None:
        played = self._played.get(trial)
        if played is not None:
            place = played.searchsorted(point).item()
            if place == len(played) or played.item(place) != point:  # two plays may be noted at a time
                self._played[trial] = np.concatenate((played[:place], np.array([point]), played[place:]))
