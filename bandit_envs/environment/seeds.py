"""Reserve trials for tuning and training that no evaluation contains."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
from gymnasium.utils import RecordConstructorArgs

FIRST = 2**32  # evaluations seed environments with one word below; see `trial_seeds`


class TrainingSeeds(gym.Wrapper, RecordConstructorArgs):
    """Add 2^32 to every seed, so that its trials are those of no evaluation, whatever the seeds.

    `evaluate` draws the environment of a trial from a seed below 2^32, or from 63 random bits if it isolates
    agents. Tune and train on this wrapper, and evaluations use unseen trials.

    Example:
        >>> env = TrainingSeeds(gym.make("GPBandit-GP-v0", horizon=100))
    """

    def __init__(self, env: gym.Env):
        RecordConstructorArgs.__init__(self)
        gym.Wrapper.__init__(self, env)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Any]:
        """Start a trial reserved for training; without a seed, the next one of its stream."""
        return self.env.reset(seed=None if seed is None else FIRST + int(seed), options=options)
