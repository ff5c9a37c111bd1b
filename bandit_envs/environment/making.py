"""Make an environment from an id, a problem or a callable."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium as gym
from gymnasium.wrappers import OrderEnforcing, PassiveEnvChecker, TimeLimit

from bandit_envs.problem.problem import Problem

EnvLike = str | Problem | Callable[[], gym.Env]
AROUND_ALL = (OrderEnforcing, PassiveEnvChecker, TimeLimit)  # wrappers that `gym.make` adds to every one


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


def plain_problem(environment: EnvLike, made: gym.Env) -> Problem | None:
    """Return the problem of an unmodified environment, whose trials may be played as a batch; else None.

    Args:
        environment: as it was given to `make`; a callable's results may differ from call to call.
        made: the result of `make`. A user's class or wrapper may change the dynamics.
    """
    from bandit_envs.environment.envs import BanditEnv

    env = made
    while type(env) in AROUND_ALL:
        env = env.env  # type: ignore[attr-defined]
    plain = not callable(environment) and type(env) is BanditEnv
    return env.problem if plain else None  # type: ignore[attr-defined]


def limit_of(made: gym.Env) -> int | None:
    """Return the number of rounds after which a `TimeLimit` ends an episode; None without one."""
    env = made
    while isinstance(env, gym.Wrapper):
        if isinstance(env, TimeLimit):
            return env._max_episode_steps
        env = env.env
    return None
