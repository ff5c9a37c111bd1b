"""The environment of a learner, in which every step is a round of the caller's loop."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from bandit_envs.basics.types import Bools, Floats

from .rendezvous import Ask

Step = tuple[Floats, float, bool, bool, dict[str, Any]]


class BridgeEnv(gym.Env):
    """Environment that passes actions to the caller's loop. One trial is one stream without an end.

    A learner that resets it again, as `learn` does when it is called in pieces, continues in the same round.

    Args:
        observation_space, action_space: of the learner.
        ask: given an action, waits for (observation, reward, info) of its round; given None, for that of the
            reset.
    """

    metadata = {"render_modes": []}  # noqa: RUF012 (Gymnasium's own convention)

    def __init__(self, observation_space: spaces.Space, action_space: spaces.Space, ask: Ask):
        self.observation_space, self.action_space, self._ask = observation_space, action_space, ask
        self._seen: tuple[Floats, dict[str, Any]] | None = None  # of the round in progress

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Floats, dict[str, Any]]:
        """Wait for the first round; later, return the round in progress."""
        super().reset(seed=seed)
        if self._seen is None:
            observation, _, info = self._ask(None)
            self._seen = observation, info
        return self._seen

    def action_masks(self) -> Bools:
        """Return the mask of available arms in this round, (A,), in the interface of sb3-contrib."""
        assert self._seen is not None
        assert isinstance(self.action_space, spaces.Discrete)
        return np.asarray(self._seen[1].get("action_mask", np.ones(int(self.action_space.n))), dtype=bool)

    def step(self, action: Any) -> Step:
        """Pass the action on, and wait for the next round."""
        observation, reward, info = self._ask(action)
        self._seen = observation, info
        return observation, reward, False, False, info
