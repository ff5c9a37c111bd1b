"""Builders of the objectives that keep long-term constraints."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bandit_envs.basics.types import Floats

from ..model.model import Model
from ..model.noise import NOISE_FLOOR
from ..model.units import PriorUnits
from .each_modelled import IMPROVED, OfCosts
from .first_plays import FirstPlays, GivenUnits, first_plays_of
from .multipliers import Multipliers
from .penalised import Penalised
from .penalties import Penalty
from .separate_models import SeparateModels


@dataclass(frozen=True)
class Shared:
    """Parameters of both kinds of objectives.

    Args:
        penalty: defines how costs enter and multipliers move.
        epoch: rounds S between two moves.
        standardize: True estimates centre and scale from the first plays.
        prior: the units of rewards and costs.
        given: the user's centre and scale in these units, if any.
        cost_noise: stds of the noise on costs in these units, (C,); None where they are withheld.
    """

    penalty: Penalty
    epoch: int
    standardize: bool
    prior: PriorUnits
    given: GivenUnits
    cost_noise: Floats | None

    def multipliers(self, model: Model, num_trials: int) -> Multipliers:
        """Return the multipliers at the start of a run."""
        return Multipliers(self.penalty, num_trials, model.setting.num_constraints, self.epoch)

    def first_plays(self, model: Model, num_trials: int) -> FirstPlays:
        """Return the empty store of the uniform first plays."""
        return first_plays_of(model, self.prior, num_trials)


@dataclass(frozen=True)
class OfPenalised(Shared):
    """Builds one model of the penalised objective; see `Penalised`."""

    restart: bool
    incumbent_first: bool

    def __call__(self, model: Model, num_trials: int) -> Penalised:
        """Return the objective of a number of trials."""
        return Penalised(
            self.multipliers(model, num_trials),
            self.first_plays(model, num_trials),
            model.gram.size,  # on a box the played points, at first none
            restart=self.restart,
            standardize=self.standardize,
            incumbent_first=self.incumbent_first,
            given=self.given,
            noise=(
                model.noise_std,
                np.reshape(model.noise_std, (-1, 1)) if self.cost_noise is None else self.cost_noise,
            ),
            prior=self.prior,
        )


@dataclass(frozen=True)
class OfSeparateModels(Shared):
    """Builds one model of the reward and one of each cost; see `SeparateModels`."""

    delta: float

    def __call__(self, model: Model, num_trials: int) -> SeparateModels:
        """Return the objective of a number of trials."""
        units, noise = (self.standardize, self.given, self.prior), self.cost_noise
        least = model.noise_variance if self.standardize else NOISE_FLOOR * model.deviation**2
        assumed = OfCosts(*units, noise, least, IMPROVED, self.delta)
        multipliers = self.multipliers(model, num_trials)
        return SeparateModels(model, multipliers, self.first_plays(model, num_trials), assumed)
