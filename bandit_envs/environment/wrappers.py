"""Provide Gymnasium wrappers for training loops of your own."""

from time import perf_counter
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.utils import RecordConstructorArgs

from bandit_envs.environment.observations import History, Statistics, Summary

__all__ = [
    "CostReturned",
    "EpisodeRegret",
    "HistoryObservation",
    "StatisticsObservation",
    "SummaryObservation",
]


class EpisodeRegret(gym.Wrapper, RecordConstructorArgs):
    """Add the score of an episode to `info["episode"]` of its last step.

    The keys are those of Gymnasium's `RecordEpisodeStatistics` and more: "r" sum of rewards, "l" length,
    "t" seconds, "regret" cumulative regret of the noiseless means, charged at play time, and with
    constraints "violation", the sum of the norms of the positive parts of the mean costs. With corrupted
    rewards, "spent" is the attack's total. With a budget, "paid" is the total cost of plays, and
    "budget_regret" what it could have earned at the best rate, less the mean rewards; the play that exceeded
    the budget counts nowhere. Where moves cost, "moved" is their total. Entries of an inner wrapper under
    the key are kept.

    Args:
        env: a bandit whose `info` has "oracle".
        stats_key: key of the score in `info`.

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
        if "spent" in info["oracle"]:
            self._score |= {"paid": 0.0, "budget_regret": 0.0}
        if "moved" in info["oracle"]:
            self._score["moved"] = 0.0
        problem = getattr(self.env.unwrapped, "problem", None)
        if problem is not None and problem.corruption.budget:
            self._score["spent"] = 0.0
        return observation, info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Play, and report the score when the episode ends."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        if info.get("played", True):
            self._count(float(reward), info["oracle"])
        self._score["t"] = round(perf_counter() - self._started, 6)
        if terminated or truncated:
            info[self.stats_key] = {**info.get(self.stats_key, {}), **self._score}
        return observation, reward, terminated, truncated, info

    def _count(self, reward: float, oracle: dict[str, Any]) -> None:
        score = self._score
        score["r"] += reward
        score["l"] += 1
        if "spent" in score:
            score["spent"] += abs(oracle["corruption"])
        if "paid" in score:
            score["paid"] += oracle["spent"]
            score["budget_regret"] += oracle["rate"] * oracle["spent"] - oracle["mean"]
        for key in score.keys() & {"regret", "violation", "moved"}:
            score[key] += oracle[key]


class CostReturned(gym.Wrapper, RecordConstructorArgs):
    """Return six values from `step`: observation, reward, cost, terminated, truncated, info.

    This is the form of safe-RL libraries (Safety-Gymnasium, OmniSafe). The cost is `info["cost"]`, the sum of
    the positive parts of the costs delivered in this round. Put it outermost: Gymnasium's own wrappers
    expect five values.

    Example:
        >>> env = CostReturned(gym.make("GPBandit-Constrained-v0"))
    """

    def __init__(self, env: gym.Env):
        RecordConstructorArgs.__init__(self)
        gym.Wrapper.__init__(self, env)

    def step(self, action: Any) -> tuple[Any, Any, float, bool, bool, dict[str, Any]]:  # type: ignore[override]
        """Play and return the cost too, which also stays in `info`."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        if "cost" not in info:
            raise ValueError('CostReturned needs info["cost"]; make an environment with constraints')
        return observation, reward, info["cost"], terminated, truncated, info


class SummaryObservation(gym.Wrapper):
    """Show a summary of the episode, made for its setting, to learners that see only their observation."""

    def __init__(self, env: gym.Env, summary: Summary):
        gym.Wrapper.__init__(self, env)
        self.summary = summary
        self.observation_space = summary.space

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Any]:
        """Start a new trial with an empty summary."""
        observation, info = self.env.reset(seed=seed, options=options)
        self.summary.begin()
        return self.summary.vector(observation), info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Play, and show the updated summary."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        self.summary.note(action, info)
        return self.summary.vector(observation), reward, terminated, truncated, info


class HistoryObservation(SummaryObservation, RecordConstructorArgs):
    """Add the last play, the last reward and its play, whether it is new, and t / T to the observation.

    The order is that of `observations.History`. Recurrent policies remember the rest (RL^2).

    Example:
        >>> env = HistoryObservation(gym.make("GPBandit-GP-v0", horizon=100))
    """

    def __init__(self, env: gym.Env):
        RecordConstructorArgs.__init__(self)
        SummaryObservation.__init__(self, env, History(env.get_wrapper_attr("setting")))


class StatisticsObservation(SummaryObservation, RecordConstructorArgs):
    """Add count and mean reward of each cell of a grid, and t / T, to the observation.

    The order is that of `bandit_envs.environment.observations.Statistics`.

    Args:
        bins: cells a dimension.

    Example:
        >>> env = StatisticsObservation(gym.make("GPBandit-GP-v0", horizon=100), bins=20)
    """

    def __init__(self, env: gym.Env, bins: int = 10):
        RecordConstructorArgs.__init__(self, bins=bins)
        SummaryObservation.__init__(self, env, Statistics(env.get_wrapper_attr("setting"), bins=bins))
