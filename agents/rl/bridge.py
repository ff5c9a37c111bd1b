"""The environment that a learner believes it steps: every step is a round of somebody else's loop."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
from gymnasium import spaces

from bandit_envs.types import Floats

from .rendezvous import Ask

Step = tuple[Floats, float, bool, bool, dict[str, Any]]


class BridgeEnv(gym.Env):
    """Asks for what each action earns. One trial is one stream without an end that a learner could see.

    Args:
        observation_space, action_space: of the learner.
        ask: given an action, waits for (observation, reward, info) of the round that it is played in; given
            None, for the same of the reset.
    """

    metadata = {"render_modes": []}  # noqa: RUF012 (Gymnasium's own convention)

    def __init__(self, observation_space: spaces.Space, action_space: spaces.Space, ask: Ask):
        self.observation_space, self.action_space, self._ask = observation_space, action_space, ask

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Floats, dict[str, Any]]:
        """Wait for the first round."""
        super().reset(seed=seed)
        observation, _, info = self._ask(None)
        return observation, info

    def step(self, action: Any) -> Step:
        """Play in somebody else's loop, and wait for the next round."""
        observation, reward, info = self._ask(action)
        return observation, reward, False, False, info
