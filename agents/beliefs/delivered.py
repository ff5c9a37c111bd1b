"""The belief that ignores pending plays."""

from __future__ import annotations

from bandit_envs.basics.types import Floats, Ints

from ..model.model import Model
from .base import Belief
from .conditioning import make_posterior, observe


class Delivered(Belief):
    """Belief that learns a value when it is delivered and ignores the play until then."""

    weighs = True

    def __init__(self, model: Model, num_trials: int):
        both = make_posterior(model, num_trials)
        super().__init__(model, both, both)

    def play(self, point: Ints) -> None:
        """Do nothing: pending plays are ignored."""

    def receive(
        self, trial: Ints, point: Ints, delay: Ints | Floats, value: Floats, weight: Floats | None = None
    ) -> None:
        """Condition on the values, at most one a trial at a time, as plays of these weights, (n,)."""
        residual = value if self.centred else self.residual(trial, point, value)
        known = weight if self._weights is None else self.weights(point, weight)
        observe(self.centre, trial, point, residual, known)

    def drop(self, trial: Ints, point: Ints, ago: Ints) -> None:
        """Do nothing: pending plays are ignored."""
