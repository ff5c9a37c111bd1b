"""The objective that weighs the score of an arm against the cost of moving there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bandit_envs.basics.types import Floats, Ints

from .base import PlayByPlay

if TYPE_CHECKING:
    from ..model.model import Model


class LessMoves(PlayByPlay):
    """score(x) - c(x_{t-1}, x), in units of the reward: what a move leads to is not valued."""

    of_reward = resumes = True

    def __init__(self, model: Model, num_trials: int):
        super().__init__(model, num_trials)
        self._law, self._places = model.setting.movement, model.setting.decisions.unit_arms
        self._last: Ints | None = None  # arms of the last round, (B,)
        self._initial = model.initial

    def values(self, trial: Ints, reward: Floats, cost: Floats) -> Floats:
        return reward

    def played(self, point: Ints, t: Ints) -> None:
        self._last = point.copy()

    def penalised(self, scores: Floats, context: Ints, t: Ints) -> Floats:
        """Return scores less the costs of moves, (B, A); random first plays are made whatever they cost."""
        if self._law is None or self._last is None:
            return scores
        cost = self._law.cost(self._places[self._last][:, None], self._places[None])
        return np.where(t[:, None] <= self._initial, scores, scores - cost)

    def worth(self, mean: Floats, context: Ints, t: Ints) -> Floats:
        """Return the means: a recommendation moves nowhere."""
        return mean
