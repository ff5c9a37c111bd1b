"""Pending feedback as if it were the posterior mean: certain of the plays, ignorant of their values."""

from __future__ import annotations

import numpy as np

from bandit_envs.basics.types import Floats, Ints

from ..model.model import Model
from .base import Belief
from .conditioning import make_posterior, observe, reweigh, withdraw


class Hallucinated(Belief):
    """Mean from the delivered values, deviation from all plays (GP-BUCB, Desautels et al. 2014).

    Conditioning pending plays on the current mean leaves the mean where it is and shrinks the deviation:
    two posteriors do it exactly.
    """

    weighs = True

    def __init__(self, model: Model, num_trials: int):
        super().__init__(model, make_posterior(model, num_trials), make_posterior(model, num_trials))
        self._nothing = np.zeros(num_trials)

    def play(self, point: Ints) -> None:
        """Count the play; what it yields does not matter for the deviation."""
        weight = self.weights(point)
        if weight is None:
            self.spread.observe(self.rows, point, self._nothing)
        else:
            self.spread.observe_sums(self.rows, point, weight, self._nothing)

    def receive(
        self, trial: Ints, point: Ints, delay: Ints | Floats, value: Floats, weight: Floats | None = None
    ) -> None:
        """Learn the values, and what their plays count as where that is told only now, (n,)."""
        observe(self.centre, trial, point, self.residual(trial, point, value), self.weights(point, weight))
        if weight is not None:
            reweigh(self.spread, trial, point, self.weights(point), weight)

    def resume(self, now: int, trial: Ints, point: Ints, played: Ints) -> None:
        """Count the plays."""
        observe(self.spread, trial, point, np.zeros(len(point)), self.weights(point))

    def drop(self, trial: Ints, point: Ints, ago: Ints) -> None:
        """Count the plays no longer."""
        withdraw(self.spread, trial, point, np.zeros(len(point)), self.weights(point))
