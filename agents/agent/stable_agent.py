"""The agent of StableOpt chooses an arm by its worst neighbour and plays that neighbour."""

from __future__ import annotations

from functools import partial

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints

from ..acquisition.of_model import unit_of
from ..model.offered import only_offered
from ..model.recommendation import Recommendation
from ..model.tie_breaking import argmax_with_ties, arms_among
from ..objectives.worst_nearby import WorstNearby
from ..validation import require_context
from .gp_agent import TIE, GPAgent
from .view import View


class StableAgent(GPAgent):
    """Chooses the arm whose neighbours have the largest minimum of mu + w sigma, and plays a neighbour.

    The neighbour is the argmin of mu - w sigma. The objective is `WorstNearby`; `centre`, (B,), holds the
    arms chosen last.
    """

    objective: WorstNearby
    centre: Ints

    def recommend(self, observation: Floats | None = None, among: object = None) -> Recommendation:
        """Recommend the arm whose worst neighbour has the largest lower bound.

        Args:
            observation: the context, as `act` sees it; may be left out where there is only one.
            among: the arms to choose from, (n,); default all.
        """
        require_context(observation, self.setting.decisions.num_contexts > 1)
        shape = (len(self.belief.rows), self.setting.scaled_contexts.shape[1])
        context = self._contexts(np.zeros(shape) if observation is None else observation)
        mean, std = self.belief.mean(context), self.belief.std(context)
        arms = arms_among(among, mean.shape[1])
        worth = self.objective.penalised(self._lower(self._view(context)), context, self.t)
        arm = arms[worth[:, arms].argmax(axis=1)]
        rows = self.belief.rows
        best = Recommendation(arm, self.setting.to_point(arm), mean[rows, arm], std[rows, arm])
        return best if self.num_trials else best.alone

    def _choose(self, context: Ints, uniform: Floats, free: Bools | None = None) -> Ints:
        self.centre = super()._choose(context, uniform, free)
        feared = np.where(self.objective.near[self.centre], -self._lower(self._view(context)), -np.inf)
        return argmax_with_ties(feared, TIE * unit_of(self.rule, self.model), uniform, self.offered)

    def _worth(self, scores: Floats, context: Ints, offered: Bools | None) -> Floats:
        """Return the worst neighbour's scores, (B, A); missing arms cannot be chosen, but are neighbours."""
        return only_offered(self.objective.penalised(scores, context, self.t), offered)

    def _lower(self, view: View) -> Floats:
        """Return mu - w sigma, the reflection of the upper bound in the mean, (B, A)."""
        return 2.0 * view.mean - self.rule(view)

    def _view(self, context: Ints) -> View:
        draws = self.samplers, partial(self.streams.of_round, "rule", self.round)
        return View(self.belief, self.incumbent, context, self.t, *draws)
