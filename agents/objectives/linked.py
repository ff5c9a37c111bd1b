"""The reward of a belief about a latent function: recommendations are in the reward's unit."""

from __future__ import annotations

import numpy as np

from bandit_envs.basics.types import Floats, Ints

from ..model.model import Model
from ..posteriors.laplace import NODE_SHARES, NODES
from .base import Reward


class LinkedReward(Reward):
    """Report E p and the std of p, p = link(base + f), for f with the belief's mean and std.

    The link rises, so the arm of the largest latent score is that of the largest mean outcome.
    """

    def __init__(self, model: Model, num_trials: int):
        super().__init__(model, num_trials)
        outcome = model.setting.outcome
        assert outcome is not None
        self._outcome = outcome

    def in_reward_units(self, mean: Floats, std: Floats) -> tuple[Floats, Floats]:
        latent = (mean - self._outcome.base)[..., None] + std[..., None] * NODES
        p = self._outcome.mean(latent)
        first = p @ NODE_SHARES
        return first, np.sqrt(np.maximum((p - first[..., None]) ** 2 @ NODE_SHARES, 0.0))

    def beliefs(self, mean: Floats, std: Floats, context: Ints) -> list[tuple[Floats, Floats]]:
        return [self.in_reward_units(mean, std)]
