"""The model that figures of a tuner draw, whatever the tuner's agent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bandit_envs.basics.arguments import require
from bandit_envs.basics.types import Floats

from ..beliefs.points import with_context
from ..beliefs.surface import Surface
from ..real.choice import LEARNING, known_noise
from .history import Arrival, TunerRound
from .plan import TunerPlan
from .player import TunerPlayer
from .space import Values

READER = ("gp-bucb", {**LEARNING, "refit_every": 1})
FEWEST = 2  # values: one does not determine a length-scale


class Reading:
    """Gaussian process of all values: Matern 5/2, one length-scale a feature, and a noise, all learnt.

    It is fitted to the latest 200 values, also for agents of another kernel, or none; costs do not enter.
    """

    def __init__(self, plan: TunerPlan, rounds: Sequence[TunerRound], context: Values):
        told = [(rounds[each.round], each) for round_ in rounds for each in round_.arrivals]
        words = f"one with at least {FEWEST} values, to draw a model"
        require(len(told) >= FEWEST, "tuner", words, len(told))
        free: dict[str, Any] = dict.fromkeys(("constraints", "safe", "like"), ())
        free |= {"cost_budget": None, "max_pending": None}
        self.plan = replace(plan, agent=known_noise(READER, plan.noise_std), num_arms=1, **free)
        past = [
            TunerRound(each.parameters, each.context, None, (Arrival(t, came.value, (), came.std),))
            for t, (each, came) in enumerate(told)
        ]
        self._player = TunerPlayer(self.plan, past, context).catch_up(past)
        self._context = plan.contexts.features(context)
        self._contexts = np.array([plan.contexts.features(each.context) for each, _ in told])

    def predict(self, points: Floats) -> tuple[Floats, Floats]:
        """Return mean and std of the mean value at features of parameters, (n, d) -> (n,) each."""
        agent, scale = self._player.agent, self._player.scale
        mean, std = Surface.of(agent.belief).predict(with_context(self._context, points))
        return scale.sign * (scale.centre + scale.std * mean), scale.std * std

    @property
    def importance(self) -> dict[str, float]:
        """Correlation lost from one end of each parameter's range to the other, in [0, 1].

        It is 1 - min k(x, x') / k(x, x) over x and x' that differ in this parameter alone: the ends of a
        number's range, any two categories, the observed range of a context. 0 is of an irrelevant parameter.
        It measures how fast values vary along the parameter, not the size of its effect.
        """
        contexts, parameters = self.plan.contexts, self.plan.parameters
        spans = np.concatenate([np.ptp(self._contexts, axis=0), np.ones(parameters.dim)])
        kernel, lost = self._player.agent.model.kernel, {}
        origin = np.zeros((1, len(spans)))
        for space, before in ((contexts, 0), (parameters, contexts.dim)):
            for i, (name, kind) in enumerate(space.kinds.items()):
                own = before + np.flatnonzero(space.parameter_of_feature == i)
                steps = spans[own][None]
                if kind.width > 1:  # the differences of any two choices
                    features = np.array([kind.features(choice) for choice in kind.levels or ()])
                    steps = (features[:, None] - features)[np.triu_indices(len(features), 1)]
                ends = np.zeros((len(steps), len(spans)))
                ends[:, own] = steps
                lost[name] = float(1.0 - kernel(origin, ends).min() / kernel(origin)[0, 0])
        return lost
