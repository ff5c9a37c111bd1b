"""Beliefs from a dictionary of a few played points, which is redrawn from time to time."""

from __future__ import annotations

import abc
from collections.abc import Sequence

import numpy as np

from bandit_envs.basics.types import Floats, Ints

from ..model.model import Model
from ..posteriors.sketched import SketchedPosterior
from .base import Belief, observe

READINGS = ("code", "paper")


class Sketched(Belief):
    """Belief that learns delivered values with the next dictionary; until then plays only lower variances.

    A dictionary is kept until 1 + the sum of variance / lambda over the plays since it was drawn, with the
    variances of that time, exceeds C, `growth`; 1 draws a new one in every round. For q, `size`, and
    `reading` see `chance`.
    """

    def __init__(
        self,
        model: Model,
        num_trials: int,
        rngs: Sequence[np.random.Generator],
        *,
        size: float,
        growth: float = 1.0,
        reading: str = "code",
    ):
        noise = np.asarray(model.noise_variance, dtype=np.float64)
        self.sketch = SketchedPosterior(model.gram, noise, num_trials)
        super().__init__(model, self.sketch, self.sketch)
        self._rngs, self._size, self._growth, self._reading = rngs, size, growth, reading
        self._since, self._start = np.ones(num_trials), self.sketch.variance_at(None)

    def play(self, point: Ints) -> None:
        self._since += self._start[self.rows, point] / self.sketch.noise
        self.sketch.play(point)

    def receive(self, trial: Ints, point: Ints, delay: Ints | Floats, value: Floats) -> None:
        """Store the values, and draw new dictionaries where C is exceeded."""
        observe(self.sketch, trial, point, self.residual(trial, point, value))
        for i in (self._since > self._growth).nonzero()[0].tolist():
            self.sketch.renew(i, self.chance(i), self._rngs[i])
            self._start[i], self._since[i] = self.sketch.sketches[i].variance, 1.0

    def chance(self, trial: int) -> Floats:
        """Return the probability with which each point enters the next dictionary, (N,).

        After n plays of a point it is min(1, q n variance / lambda) by the authors' code, with the present
        variances. By the paper each play is drawn separately, 1 - (1 - min(1, q variance / lambda))^n, with
        the variances that chose the plays.
        """
        plays, noise = self.sketch.count[trial], self.sketch.noise[trial]
        if self._reading == "code":
            return np.minimum(self._size * plays * self.sketch.sketches[trial].variance / noise, 1.0)
        once = np.minimum(self._size * self._start[trial] / noise, 1.0)
        return 1.0 - (1.0 - once) ** plays

    def drop(self, trial: Ints, point: Ints, ago: Ints) -> None:
        """Do nothing: pending plays do not enter the next dictionary."""

    def forget(self, trial: Ints) -> None:
        super().forget(trial)
        self._start[trial], self._since[trial] = self.sketch.gram.diagonal, 1.0

    @property
    @abc.abstractmethod
    def gain(self) -> Floats:
        """Quantity that replaces the information gain in the width, (B,)."""


class SketchedAnew(Sketched):
    """Belief with a new dictionary in every round, as in BKB."""

    @property
    def gain(self) -> Floats:
        """The effective dimension of the plays, (B,)."""
        return self.sketch.effective_dimension


class SketchedInBatches(Sketched):
    """Belief with a new dictionary for each batch of plays, as in BBKB."""

    @property
    def gain(self) -> Floats:
        """1/2 sum of log(1 + variance / lambda) over the plays, (B,)."""
        return self.sketch.gain
