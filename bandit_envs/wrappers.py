"""Gymnasium wrappers for people who train with a loop of their own."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.utils import RecordConstructorArgs

__all__ = ["CostReturned", "EpisodeRegret"]


class EpisodeRegret(gym.Wrapper, RecordConstructorArgs):
    """Adds the score of an episode to `info["episode"]` of its last step.

    The keys are those of Gymnasium's `RecordEpisodeStatistics` and more: "r" sum of rewards, "l" length,
    "t" seconds, "regret" cumulative regret of the noiseless means, charged at play time, and with
    constraints "violation", the sum of the norms of the positive parts of the mean costs. What an inner
    wrapper has put under the key is kept.

    Args:
        env: a bandit whose `info` has "oracle".
        stats_key: where in `info` the score goes.

    Example:
        >>> env = EpisodeRegret(gym.make("GPBandit-GP-v0", horizon=100))
    """

    def __init__(self, env: gym.Env, stats_key: str = "episode"):
        RecordConstructorArgs.__init__(self, stats_key=stats_key)
        gym.Wrapper.__init__(self, env)
        self.stats_key = stats_key
        self._score: dict[str, Any] = {}
        self._started = perf_counter()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Any]:
        """Start a new trial and a new score."""
        observation, info = self.env.reset(seed=seed, options=options)
        if "oracle" not in info:
            raise ValueError('EpisodeRegret needs info["oracle"]; make the environment with oracle=True')
        self._started = perf_counter()
        self._score = {"r": 0.0, "l": 0, "t": 0.0, "regret": 0.0}
        if np.size(info["oracle"]["cost_mean"]):
            self._score["violation"] = 0.0
        return observation, info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Play, and report the score where the episode ends."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._count(float(reward), info["oracle"])
        if terminated or truncated:
            info[self.stats_key] = {**info.get(self.stats_key, {}), **self._score}
        return observation, reward, terminated, truncated, info

    def _count(self, reward: float, oracle: dict[str, Any]) -> None:
        score = self._score
        score["r"] += reward
        score["l"] += 1
        score["t"] = round(perf_counter() - self._started, 6)
        for key in score.keys() & oracle.keys():
            score[key] += oracle[key]


class CostReturned(gym.Wrapper, RecordConstructorArgs):
    """Returns six things from `step`: observation, reward, cost, terminated, truncated, info.

    This is the form of safe-RL libraries (Safety-Gymnasium, OmniSafe). The cost is `info["cost"]`, the sum of
    the positive parts of the costs that arrive in this round. Put it outermost: Gymnasium's own wrappers
    expect five things.

    Example:
        >>> env = CostReturned(gym.make("GPBandit-Constrained-v0"))
    """

    def __init__(self, env: gym.Env):
        RecordConstructorArgs.__init__(self)
        gym.Wrapper.__init__(self, env)

    def step(self, action: Any) -> tuple[Any, Any, float, bool, bool, dict[str, Any]]:  # type: ignore[override]
        """Play; the cost is also left in `info`."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        if "cost" not in info:
            raise ValueError('CostReturned needs info["cost"]; make an environment with constraints')
        return observation, reward, info["cost"], terminated, truncated, info
