"""The belief about the latent function of clicks or counts."""

from __future__ import annotations

import numpy as np

from bandit_envs.basics.types import Floats, Ints

from ..model.model import Model
from ..posteriors.latent import LatentPosterior
from ..validation import PerTrial
from .base import Belief, observe


class Latent(Belief):
    """Belief about base + f, log-odds or log-rates, that learns an outcome when it is delivered.

    A delay that does not depend on the outcome leaves it sound: what is delivered is then no selection.
    """

    def __init__(self, model: Model, num_trials: int):
        assert model.setting.outcome is not None
        self.latent = LatentPosterior(model.gram, model.setting.outcome, num_trials)
        super().__init__(model, self.latent, self.latent)

    def play(self, point: Ints) -> None:
        """Do nothing: pending plays are ignored."""

    def receive(self, trial: Ints, point: Ints, delay: Ints | Floats, value: Floats) -> None:
        observe(self.latent, trial, point, value)  # an outcome itself: the prior mean is that of f

    def drop(self, trial: Ints, point: Ints, ago: Ints) -> None:
        """Do nothing: pending plays are ignored."""

    def half_width(self, context: Ints, bound: PerTrial, delta: PerTrial) -> Floats:
        each = (np.broadcast_to(given, len(self.rows)) for given in (bound, delta))
        return self.latent.half_width_at(self.cells(context), *each)
