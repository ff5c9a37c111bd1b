"""Posterior of observations with rounds, in which older ones have less weight."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from bandit_envs.basics.types import Floats, Ints
from bandit_envs.kernels.gram import Gram

from ...validation import PerTrial
from ..base import Posterior, SufficientStatistics
from ..play_factor import Factor
from .memory import Memory


class ForgettingPosterior(Posterior):
    """Posterior for the next round with one memory a trial; it loops over trials, as their plays differ.

    In addition to the methods of every posterior, `advance` begins a round, and observations have ages.

    Args:
        noise: lambda of a play that has not faded; one number, or one a trial (B,).
        memories: builds the memory of each trial from the prior and its lambda, B of them.
    """

    def __init__(self, gram: Gram, noise: PerTrial, memories: Sequence[Callable[[Gram, float], Memory]]):
        super().__init__(gram, np.asarray(noise, dtype=np.float64), len(memories))
        self._make = memories
        self._trial = [make(gram, float(each)) for make, each in zip(memories, self.noise, strict=True)]

    def advance(self) -> None:
        """Begin a round in every trial."""
        for memory in self._trial:
            memory.advance()

    def elapse(self, trial: Ints, rounds: Ints) -> None:
        """Advance some trials without observations by so many rounds, (n,) each."""
        for i, count in zip(trial.tolist(), rounds.tolist(), strict=True):
            for _ in range(count):
                self._trial[i].advance()

    def observe_aged(self, trial: Ints, point: Ints, value: Floats, age: Ints) -> None:
        """Condition on observations of earlier rounds, (n,) each; age 0 is the latest. Trials may repeat."""
        rows = zip(trial.tolist(), point.tolist(), value.tolist(), age.tolist(), strict=True)
        for i, x, y, rounds in rows:
            self._trial[i].observe(x, y, rounds)

    def under(self, gram: Gram, noise: PerTrial) -> ForgettingPosterior:
        """Return the posterior of another prior given the same observations in the same rounds."""
        new = ForgettingPosterior(gram, noise, self._make)
        for memory, old in zip(new._trial, self._trial, strict=True):
            memory.replay(old)
        return new

    def factor(self, trial: int) -> Factor:
        """Return the remembered plays of one trial as a factor, which determines its posterior anywhere."""
        return self._trial[trial].factor

    @property
    def gain(self) -> Floats:
        return np.array([memory.gain for memory in self._trial])

    def observe(self, trial: Ints, point: Ints, value: Floats) -> None:
        self.observe_aged(trial, point, value, np.zeros_like(trial))

    def correct(self, trial: Ints, point: Ints, change: Floats) -> None:
        for i, x, dy in zip(trial.tolist(), point.tolist(), change.tolist(), strict=True):
            self._trial[i].correct(x, dy)

    def mean_at(self, cells: Ints | None) -> Floats:
        return np.array([memory.mean(row) for memory, row in self._with(cells)])

    def variance_at(self, cells: Ints | None) -> Floats:
        return np.array([memory.variance(row) for memory, row in self._with(cells)])

    def weight_norm_at(self, cells: Ints | None) -> Floats:
        return np.array([memory.weight_norm(row) for memory, row in self._with(cells)])

    def count_at(self, cells: Ints | None) -> Floats:
        count = np.zeros((len(self._trial), self.gram.size))
        for row, memory in zip(count, self._trial, strict=True):
            seen = memory.statistics
            row[seen.point] = seen.plays
        return count if cells is None else np.take_along_axis(count, cells, axis=1)

    def deviation_at(self, cells: Ints | None, rngs: Sequence[np.random.Generator]) -> Floats:
        pairs = zip(self._with(cells), rngs, strict=True)
        return np.array([memory.deviation(row, rng) for (memory, row), rng in pairs])

    def mean_of(self, trial: Ints, point: Ints) -> Floats:
        return np.array([self._trial[i].mean(point[[k]])[0] for k, i in enumerate(trial.tolist())])

    def variance_of(self, trial: Ints, point: Ints) -> Floats:
        return np.array([self._trial[i].variance(point[[k]])[0] for k, i in enumerate(trial.tolist())])

    def reset(self, trial: Ints) -> None:
        for i in trial.tolist():
            self._trial[i] = self._make[i](self.gram, float(self.noise[i]))

    def statistics(self, trial: int) -> SufficientStatistics:
        return self._trial[trial].statistics

    def condition_on(self, trial: int, seen: SufficientStatistics) -> None:
        """Replace the plays and value sums of one trial, as if they were of the latest round."""
        self.reset(np.array([trial]))
        for x, plays, total in zip(*(each.tolist() for each in seen), strict=True):
            self._trial[trial].observe(x, total / plays, 0, plays)

    def _with(self, cells: Ints | None) -> list[tuple[Memory, Ints | None]]:
        rows = [None] * len(self._trial) if cells is None else list(cells)
        return list(zip(self._trial, rows, strict=True))
