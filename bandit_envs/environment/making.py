"""One way to make an environment from whatever describes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium as gym

from bandit_envs.problem.problem import Problem

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
        from bandit_envs.environment.envs import BanditEnv

        return BanditEnv(environment, **keywords)
    if callable(environment):
        return environment(**keywords)
    raise ValueError(f"environment must be an id, a Problem or a callable, got {environment!r}")
