"""Beliefs that condition on feedback when it is delivered, at once or in sums."""

from __future__ import annotations

import numpy as np

from bandit_envs.basics.types import Floats, Ints

from ..model.model import Model
from ..posteriors import Posterior
from .base import Belief, make_posterior, observe, waves


class Delivered(Belief):
    """Belief that learns a value when it is delivered and ignores the play until then."""

    weighs = True

    def __init__(self, model: Model, num_trials: int):
        both = make_posterior(model, num_trials)
        super().__init__(model, both, both)

    def receive(
        self, trial: Ints, point: Ints, delay: Ints | Floats, value: Floats, weight: Floats | None = None
    ) -> None:
        """Condition on the values, at most one a trial at a time, as plays of these weights, (n,)."""
        residual = value if self.centred else self.residual(trial, point, value)
        known = weight if self._weights is None else self.weights(point, weight)
        observe(self.centre, trial, point, residual, known)


class Gathered(Delivered):
    """Belief equal to `Delivered` up to rounding, in which n values of a point cost one observation.

    A value costs O(1) while its point is that of the value before: a number and a sum a trial are stored
    until another point is played or the posterior is read.
    """

    def __init__(self, model: Model, num_trials: int):
        self._point = np.zeros(num_trials, dtype=np.int64)  # the point of the stored values
        self._plays = np.zeros(num_trials)  # their number, 0 where none is stored
        self._total = np.zeros(num_trials)  # their sum
        super().__init__(model, num_trials)

    @property
    def centre(self) -> Posterior:  # type: ignore[override] (an attribute of other beliefs)
        """The posterior given all delivered values."""
        self._learn((self._plays > 0.0).nonzero()[0])
        return self._posterior

    @centre.setter
    def centre(self, posterior: Posterior) -> None:
        self._posterior = posterior

    @property
    def spread(self) -> Posterior:  # type: ignore[override]
        """The posterior given all delivered values."""
        return self.centre

    @spread.setter
    def spread(self, posterior: Posterior) -> None:
        self._posterior = posterior

    def receive(
        self, trial: Ints, point: Ints, delay: Ints | Floats, value: Floats, weight: Floats | None = None
    ) -> None:
        """Sum up the values, at most one a trial at a time, as plays of these weights, (n,)."""
        residual, known = self.residual(trial, point, value), self.weights(point, weight)
        if known is None and len(trial) == 1:  # a third of the time that arrays of one entry take
            self._gather_one(trial.item(), point.item(), residual.item())
            return
        plays = np.ones(len(trial)) if known is None else known
        for wave in waves(trial):
            self._gather(trial[wave], point[wave], residual[wave], plays[wave])

    def _gather(self, trial: Ints, point: Ints, value: Floats, plays: Floats) -> None:
        other = (self._point[trial] != point) & (self._plays[trial] > 0.0)
        if other.any():
            self._learn(trial[other])
        self._point[trial] = point
        self._plays[trial] += plays
        self._total[trial] += plays * value

    def _gather_one(self, i: int, point: int, value: float) -> None:
        if self._plays.item(i) and self._point.item(i) != point:
            self._learn(np.array([i]))
        self._point[i] = point
        self._plays[i] += 1.0
        self._total[i] += value

    def _learn(self, trial: Ints) -> None:
        """Condition on the stored sums of some trials, (n,)."""
        if not len(trial):
            return
        plays, total = self._plays[trial], self._total[trial]
        self._plays[trial] = self._total[trial] = 0.0
        self._posterior.observe_sums(trial, self._point[trial], plays, total)


class Alike(Delivered):
    """Belief that learns every value, when it is delivered, as one play of noise lambda.

    A value that may be corrupted, or heavy-tailed, must not have a larger weight than another because a small
    noise is published for it.
    """

    weighs = False

    def weights(self, point: Ints, told: Floats | None = None) -> Floats | None:
        """Return None: each play counts as one."""
        return None
