"""Environments from ids, problems or callables, and seeds that no evaluation contains."""

from collections.abc import Callable
from typing import Any

import gymnasium as gym
from gymnasium.utils import RecordConstructorArgs
from gymnasium.wrappers import OrderEnforcing, PassiveEnvChecker, TimeLimit

from bandit_envs.environment.registration import near_id
from bandit_envs.problem.problem import Problem

FIRST = 2**32  # evaluations seed environments with one word below; see `trial_seeds`
EnvLike = str | Problem | Callable[[], gym.Env]
AROUND_ALL = (OrderEnforcing, PassiveEnvChecker, TimeLimit)  # wrappers that `gym.make` adds to every one


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


def make(environment: EnvLike, **keywords: Any) -> gym.Env:
    """Return the environment of a registered id, a `Problem`, or a callable that takes the keywords."""
    if isinstance(environment, str):
        try:
            return gym.make(environment, **keywords)
        except gym.error.NameNotFound as error:
            said = "" if "Did you mean" in str(error) else near_id(environment)
            raise gym.error.NameNotFound(f"{error}{said}") from None
    if isinstance(environment, Problem):
        from bandit_envs.environment.envs import BanditEnv

        return BanditEnv(environment, **keywords)
    if callable(environment):
        return environment(**keywords)
    raise ValueError(f"environment must be an id, a Problem or a callable, got {environment!r}")


def plain_problem(environment: EnvLike, made: gym.Env) -> Problem | None:
    """Return the problem of an unmodified environment, whose trials may be played as a batch; else None.

    A callable's results may differ from call to call, and a user's class or wrapper may change the dynamics.
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
