"""The assumptions of an agent with a model of the reward and one of each cost: their noise and kernels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..model.hyperparameters import Fitter
from ..model.model import Model
from ..objectives.feasible import Feasible
from ..validation import PerTrial
from .assumptions import FEWEST_VALUES, THE_TRIAL, Fit, Given, Learner, Learnt
from .book import PENDING
from .generators import Streams

START = 0.01  # initial noise variance of a fit, in prior variances


class OwnNoise(Given):
    """Lambda of the reward in squares of its scale, which the objective estimates from first plays.

    Args:
        model: its lambda is that of a scale of 1.
    """

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

    Before the first fit lambda is that of `OwnNoise`. A quantity whose fit fails keeps its latest kernel.
    """

    def __init__(self, model: Model, streams: Streams):
        super().__init__(model, streams)
        self._own_noise, variance = OwnNoise(model, streams), model.deviation**2
        self._fitters = [
            Fitter(model.kernel, START * variance, variance, spreads=self.learning.spreads)
            for _ in range(1 + model.setting.num_constraints)
        ]

    def after(self, agent: Learner) -> Model | None:
        found = super().after(agent)
        return self._own_noise.after(agent) if found is None and not any(self.fits) else found

    def adopted(self, agent: Learner, fit: Fit) -> Model | None:
        if not fit:
            return None
        parts = np.split(np.array(fit), len(self._fitters))
        reward, *costs = (fitter.take(theta, 0.0) for fitter, theta in zip(self._fitters, parts, strict=True))
        assert isinstance(agent.objective, Feasible)
        agent.objective.learn(costs)
        return agent.model.learnt(reward)

    @property
    def fit_sizes(self) -> tuple[int, ...]:
        """Length of a fit: the kernels and noises of all."""
        return (sum(len(fitter.latest) for fitter in self._fitters),)

    def _found(self, agent: Learner) -> Fit:
        rows = agent.book.rows(THE_TRIAL)
        rows = rows.where(rows.arrived > PENDING)
        if self.learning.most is not None:
            rows = rows.where(slice(-self.learning.most, None))
        if len(rows.point) < FEWEST_VALUES:
            return None
        objective, restarts = agent.objective, self.learning.restarts
        assert isinstance(objective, Feasible)
        reward = objective.values(rows.trial, rows.reward, rows.cost)
        costs = objective.scaled_costs(rows.trial, rows.cost)
        for fitter, value in zip(self._fitters, [reward, *costs.T], strict=True):
            found = fitter.fit(agent.features, rows.point, value, restarts, self._rng)
            self.failed_fits += found is None
        return np.concatenate([fitter.latest for fitter in self._fitters]).tolist()
