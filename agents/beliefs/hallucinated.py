"""The belief that counts pending feedback as its posterior mean, which shrinks the std alone."""

from __future__ import annotations

import numpy as np

from bandit_envs.basics.types import Floats, Ints

from ..model.model import Model
from .base import Belief
from .conditioning import make_posterior, observe, reweigh, withdraw


class Hallucinated(Belief):
    """Mean of the delivered values, std of all plays (GP-BUCB, Desautels et al. 2014).

    Conditioning pending plays on the current mean leaves the mean unchanged and shrinks the std, which two
    posteriors do exactly.
    """

    weighs = True

    def __init__(self, model: Model, num_trials: int):
        super().__init__(model, make_posterior(model, num_trials), make_posterior(model, num_trials))
        self._zeros = np.zeros(num_trials)

    def play(self, point: Ints) -> None:
        """Count the play; the std does not depend on its value."""
        weight = self.weights(point)
        if weight is None:
            self.spread.observe(self.rows, point, self._zeros)
        else:
            self.spread.observe_sums(self.rows, point, weight, self._zeros)

    def receive(
        self, trial: Ints, point: Ints, delay: Ints | Floats, value: Floats, weight: Floats | None = None
    ) -> None:
        """Condition on the values, and on the weights of their plays where they are published now, (n,)."""
        observe(self.centre, trial, point, self.residual(trial, point, value), self.weights(point, weight))
        if weight is not None:
            reweigh(self.spread, trial, point, self.weights(point), weight)

    def resume(self, now: int, trial: Ints, point: Ints, played: Ints) -> None:
        """Count the plays."""
        observe(self.spread, trial, point, np.zeros(len(point)), self.weights(point))

    def drop(self, trial: Ints, point: Ints, ago: Ints) -> None:
        """Remove the plays from the std."""
        withdraw(self.spread, trial, point, np.zeros(len(point)), self.weights(point))
