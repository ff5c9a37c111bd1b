"""One way to make an environment from whatever describes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium as gym
from gymnasium.vector import AutoresetMode

from bandit_envs.problem import Problem

EnvLike = str | Problem | Callable[[], gym.Env]


def make(environment: EnvLike, **keywords: Any) -> gym.Env:
    """Return an environment.

    Args:
        environment: a registered id, a `Problem`, or a callable that makes an environment.
        **keywords: of the environment; for a callable, passed to it.
    """
    if isinstance(environment, str):
        return gym.make(environment, **keywords)
    if isinstance(environment, Problem):
        from bandit_envs.envs import BanditEnv

        return BanditEnv(environment, **keywords)
    if callable(environment):
        return environment(**keywords)
    raise ValueError(f"environment must be an id, a Problem or a callable, got {environment!r}")


def make_batch(environment: str | Problem, num_envs: int, **keywords: Any) -> gym.vector.VectorEnv:
    """Return `num_envs` trials in one vector environment that does not reset itself."""
    keywords = {"autoreset_mode": AutoresetMode.DISABLED, **keywords}
    if isinstance(environment, str):
        return gym.make_vec(environment, num_envs, **keywords)
    from bandit_envs.vector import BanditVectorEnv

    return BanditVectorEnv(environment, num_envs, **keywords)
