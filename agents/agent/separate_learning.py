"""The assumptions of agents that learn the reward and each cost apart, which have separate models."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..model.hyperparameters import Fitter
from ..model.model import Model
from ..objectives.primal_dual import Feasible
from ..objectives.separate_models import SeparateModels
from ..options import PerTrial
from .assumptions import FEWEST_VALUES, THE_TRIAL, Fit, Given, Learner, Learnt
from .generators import Streams

START = 0.01  # initial noise variance of a fit, in prior variances


class OwnNoise(Given):
    """Lambda of the reward from first plays: the model's, of a scale of 1, over the square of its scale."""

    may_change = True

    def __init__(self, model: Model, streams: Streams):
        super().__init__(model, streams)
        self._noise: PerTrial = model.noise_variance

    def after(self, agent: Learner) -> Model | None:
        assert isinstance(agent.objective, Feasible)
        before, self._noise = self._noise, agent.objective.reward_noise_at(agent.objective.scale)
        return None if np.all(self._noise == before) else replace(agent.model, noise_variance=self._noise)


class EachLearnt(Learnt):
    """Kernel and noise of the reward and of each cost by marginal likelihood, every n rounds.

    Priors, if asked for, are around each one's own kernel and noise at the first fit, in units of the first
    plays. A quantity whose fit fails keeps its latest kernel.
    """

    def __init__(self, model: Model, streams: Streams):
        super().__init__(model, streams)
        self._fitters: list[Fitter] = []  # of the reward and of each cost, from the first fit on

    def fitters(self, agent: Learner) -> list[Fitter]:
        """Return what fits the reward and each cost, around their hyperparameters before any fit."""
        first = [agent.model, *objective_of(agent).cost_models(agent.objective.scale)]
        return [
            Fitter(each.kernel, np.asarray(each.noise_variance).item(), each.prior_std**2, self.learning)
            for each in first
        ]

    def adopted(self, agent: Learner, fit: Fit) -> Model | None:
        if not fit:
            return None
        parts = np.split(np.array(fit), len(self._fitters))
        reward, *costs = (fitter.take(theta, 0.0) for fitter, theta in zip(self._fitters, parts, strict=True))
        objective_of(agent).learn(reward, costs)
        return agent.model.learnt(reward)

    def fit_sizes(self, agent: Learner) -> tuple[int, ...]:
        """Length of a fit: the kernels and noises of all."""
        self._fitters = self._fitters or self.fitters(agent)
        return (sum(len(fitter.latest) for fitter in self._fitters),)

    def _found(self, agent: Learner) -> Fit:
        rows = agent.book.rows(THE_TRIAL).delivered.where(self.learning.latest)
        if len(rows.point) < FEWEST_VALUES:
            return None
        objective, restarts = objective_of(agent), self.learning.restarts
        reward = objective.values(rows.trial, rows.reward, rows.cost)
        costs = objective.scaled_costs(rows.trial, rows.cost)
        for fitter, value in zip(self._fitters, [reward, *costs.T], strict=True):
            found = fitter.fit(agent.features, rows.point, value, restarts, self._rng)
            self.failed_fits += found is None
        return np.concatenate([fitter.latest for fitter in self._fitters]).tolist()


def objective_of(agent: Learner) -> SeparateModels:
    """Return the objective of an agent that models reward and costs apart."""
    assert isinstance(agent.objective, SeparateModels)
    return agent.objective


class EachLearntInScales(EachLearnt):
    """The same of `Feasible`: before the first fit lambda is that of `OwnNoise`, and fits begin at 0.01."""

    def __init__(self, model: Model, streams: Streams):
        super().__init__(model, streams)
        self._own_noise = OwnNoise(model, streams)

    def after(self, agent: Learner) -> Model | None:
        found = super().after(agent)
        return self._own_noise.after(agent) if found is None and not any(self.fits) else found

    def fitters(self, agent: Learner) -> list[Fitter]:
        first, variance = self.first, self.first.prior_std**2
        return [
            Fitter(first.kernel, START * variance, variance, self.learning)
            for _ in range(1 + first.setting.num_constraints)
        ]


def in_scales_of_first_plays(model: Model) -> dict[str, Any]:
    """Return the assumptions of an agent whose reward and costs have scales and noises of their own."""
    return {"assumptions": OwnNoise if model.learning is None else EachLearntInScales}


def learnt_separately(model: Model, separate: bool) -> dict[str, Any]:
    """Return the assumptions of an agent that learns, and models reward and costs apart; else nothing."""
    return {"assumptions": EachLearnt} if separate and model.learning is not None else {}
