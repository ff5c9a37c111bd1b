"""Pretrained policies as agents: they observe a trial with frozen weights."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from bandit_envs.basics.extras import from_extra
from bandit_envs.basics.types import Floats
from bandit_envs.environment.observations import make_summary
from bandit_envs.problem.setting import Setting

from ..capabilities import handles
from ..showing import Shown
from ..validation import require_reset
from .learner import one_word
from .plays import Plays
from .policy import Policy
from .unit import published_unit


class PretrainedAgent(Shown):
    """Agent with frozen weights, trained on other functions of the same kind.

    Args:
        setting: the published setting.
        policy: the trained policy.
        deterministic: True plays the most likely action, False a draw.
    """

    track = "pretrained"
    pretrained = True
    num_trials = None

    def __init__(self, setting: Setting, policy: Policy, deterministic: bool = False):
        self.setting, self.policy, self.deterministic = setting, policy, deterministic
        self._network = policy.network(setting)
        self._plays = Plays(setting, policy.box)
        self._summary = make_summary(policy.observation, setting)
        self._summary.unit = published_unit(setting) or 1.0
        self._started = False

    def reset(self, seed: int) -> None:
        """Clear the memory of the trial; the weights stay."""
        import torch

        self._draws = torch.Generator().manual_seed(one_word(seed)).get_state()
        self._memory: Any = None  # of a recurrent network
        self._summary.begin()
        self._action: Any = None  # of the round in progress, once it is drawn
        self._started, self._first = True, True

    def act(self, observation: Floats) -> Any:
        """Play the network's action, given the trial so far."""
        require_reset(self._started)
        if self._action is None:  # otherwise the round has not been played: return the same action
            self._action = self._plays(self._draw(observation))
        return self._action

    def update(self, observation: Floats, action: Any, reward: Any, info: dict[str, Any]) -> None:
        """Add the round to the observations."""
        require_reset(self._started)
        self._summary.note(action, info)
        self._action = None

    def _draw(self, observation: Floats) -> Any:
        import torch

        seen, first = self._summary.vector(observation), np.array([self._first])
        outer = torch.get_rng_state()  # the network draws from the global generator
        torch.set_rng_state(self._draws)
        action, self._memory = self._network.predict(seen, self._memory, first, self.deterministic)
        self._draws, self._first = torch.get_rng_state(), False
        torch.set_rng_state(outer)
        return action


@handles("delay", "context", "box")
def pretrained(
    setting: Setting, path: str | os.PathLike[str], *, deterministic: bool = False
) -> PretrainedAgent:
    """Pretrained policy of `train_policy`, with frozen weights.

    Args:
        setting: the published setting.
        path: a file written by `Policy.save`.
        deterministic: True plays the most likely action, False a draw.
    """
    with from_extra("rl", "pretrained policies"):
        return PretrainedAgent(setting, Policy.load(path), deterministic)
