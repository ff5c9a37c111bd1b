"""The environment that a learner believes it steps: every step is a round of somebody else's loop."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from bandit_envs.basics.types import Bools, Floats

from .rendezvous import Ask

Step = tuple[Floats, float, bool, bool, dict[str, Any]]


class BridgeEnv(gym.Env):
    """Asks for what each action earns. One trial is one stream without an end that a learner could see.

    A learner that resets it again, as `learn` does when it is called in pieces, goes on in the same round.

    Args:
        observation_space, action_space: of the learner.
        ask: given an action, waits for (observation, reward, info) of the round that it is played in; given
            None, for the same of the reset.
    """

    metadata = {"render_modes": []}  # noqa: RUF012 (Gymnasium's own convention)

    def __init__(self, observation_space: spaces.Space, action_space: spaces.Space, ask: Ask):
        self.observation_space, self.action_space, self._ask = observation_space, action_space, ask
        self._seen: tuple[Floats, dict[str, Any]] | None = None  # of the round in progress

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Floats, dict[str, Any]]:
        """Wait for the first round; later, see again the round in progress."""
        super().reset(seed=seed)
        if self._seen is None:
            observation, _, info = self._ask(None)
            self._seen = observation, info
        return self._seen

    def action_masks(self) -> Bools:
        """Which arms may be played in the round in progress, (A,), as sb3-contrib asks for it."""
        assert self._seen is not None
        assert isinstance(self.action_space, spaces.Discrete)
        return np.asarray(self._seen[1].get("action_mask", np.ones(int(self.action_space.n))), dtype=bool)

    def step(self, action: Any) -> Step:
        """Play in somebody else's loop, and wait for the next round."""
        observation, reward, info = self._ask(action)
        self._seen = observation, info
        return observation, reward, False, False, info
