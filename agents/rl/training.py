"""Training of policies on functions that no evaluation contains: the second track of learners."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import gymnasium as gym
import numpy as np

from bandit_envs.basics.arguments import from_extra
from bandit_envs.basics.options import count
from bandit_envs.environment.envs import (
    FIRST,
    BanditEnv,
    EnvLike,
    TrainingSeeds,
    limit_of,
    make,
    plain_problem,
)
from bandit_envs.environment.observations import make_summary, warn_if_blind
from bandit_envs.environment.wrappers import SummaryObservation
from bandit_envs.problem.problem import Problem
from bandit_envs.problem.setting import Setting

from ..agent.generators import preserved_generators
from ..options import typed
from .bridge import Plays, published_unit
from .learner import one_word
from .policy import Policy
from .recipe import Recipe, find_algorithm, plays_box

if TYPE_CHECKING:
    from stable_baselines3.common.vec_env import VecEnv

# A trial is an episode, and early exploration pays off later: hence the discounts.
DISCOUNTED = {"learning_rate": 3e-3, "n_epochs": 4, "gamma": 0.8, "gae_lambda": 0.9}
LSTM = {"lstm_hidden_size": 64, "net_arch": [], "enable_critic_lstm": False, "shared_lstm": True}
TRAINING: dict[str, dict[str, Any]] = {
    "recurrent-ppo": {**DISCOUNTED, "policy_kwargs": {**LSTM, "log_std_init": -0.5}},
    "ppo": {**DISCOUNTED, "policy_kwargs": {"net_arch": [64, 64]}},
}
SEEN = {"recurrent-ppo": "history"}
# A recurrent policy observes the features of its plays, and points are easier to repeat than arms.
PLAYED = {"recurrent-ppo": "box"}
LONGEST = 50  # rounds of a rollout


class _Played(gym.Wrapper):
    """Wrapper that converts a library's actions, and divides rewards by a unit."""

    def __init__(self, env: gym.Env, plays: Plays, unit: float):
        super().__init__(env)
        self._plays, self._unit, self.action_space = plays, unit, plays.space

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Play the converted action."""
        observation, reward, terminated, truncated, info = self.env.step(self._plays(action))
        return observation, float(reward) / self._unit, terminated, truncated, info


@typed
def train_policy(
    environment: EnvLike,
    algorithm: str = "recurrent-ppo",
    *,
    total_timesteps: Annotated[int, count("give rounds of training, such as 200_000")] = 200_000,
    observation: Any = None,
    actions: str | None = None,
    env_kwargs: Mapping[str, Any] | None = None,
    num_envs: Annotated[int, count("give the number of environments, such as 16")] = 16,
    seed: int = 0,
    **options: Any,
) -> Policy:
    """Train a policy, one episode a function, on trials that no evaluation can contain (`TrainingSeeds`).

    A recurrent policy that observes the history learns a learning algorithm (RL^2, Duan et al. 2016); one
    that observes statistics learns to use them.

    Args:
        environment: a registered id, a `Problem`, or a callable that makes an environment.
        algorithm: "recurrent-ppo", "ppo", or another name of `agents.sb3`; not a class, which a file could
            not keep.
        total_timesteps: rounds of training, over all environments.
        observation: default "history" for "recurrent-ppo" and "statistics" for others.
        actions: "arms" or "box", as for `agents.sb3`; default "box" for "recurrent-ppo".
        env_kwargs: keyword arguments of the environment.
        num_envs: environments in the batch.
        seed: of the training.
        **options: of the algorithm's constructor, which override `TRAINING`; those that shape the network,
            such as "policy_kwargs", must be JSON-able.
    """
    keywords = dict(env_kwargs or {})
    new: Callable[[], gym.Env] = partial(make, environment, **keywords)
    _check_drawn(TrainingSeeds(new()))
    seen = SEEN.get(algorithm, "statistics") if observation is None else observation
    chosen = find_algorithm(algorithm)
    made = new()
    setting: Setting = made.get_wrapper_attr("setting")
    box = plays_box(chosen, setting, PLAYED.get(algorithm) if actions is None else actions)
    rounds = min(setting.horizon, LONGEST)
    sizes = {"n_steps": rounds, "batch_size": max(2, rounds * num_envs // 4)}  # four batches a rollout
    known = sizes | TRAINING[algorithm] if algorithm in TRAINING else {}
    recipe = Recipe(chosen, known | options, box, seen)
    shaping = {name: value for name, value in recipe.options.items() if name in ("policy", "policy_kwargs")}
    for name, value in {"algorithm": algorithm, "observation": seen, **shaping}.items():
        try:
            json.dumps(value)
        except TypeError as error:  # now rather than after the training
            kept = f"made of text and numbers, which a file can keep, got {value!r}"
            raise ValueError(f"{name} must be {kept}; use names and Python's own numbers") from error
    recipe.check()
    with preserved_generators():
        envs = _training_envs(new, plain_problem(environment, made), recipe, num_envs, one_word(seed))
        network = recipe.learnt(envs, total_timesteps, one_word(seed)).policy
        envs.close()
    weights = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    done = {
        "environment": environment if isinstance(environment, str) else repr(environment),
        "env_kwargs": keywords,
        "total_timesteps": total_timesteps,
        "seed": seed,
    }
    return Policy(algorithm, shaping, box, seen, json.loads(json.dumps(done, default=_plain)), weights)


def _check_drawn(env: gym.Env) -> None:
    """Raise where every trial has the same function, which evaluations would then have as well."""
    if not isinstance(env.unwrapped, BanditEnv):
        return  # another package's environment
    means = []  # not the optima, which are equal for normalised functions
    for seed in range(2):
        env.reset(seed=seed)
        trial = env.unwrapped.simulator.trials[0]
        means.append(None if trial is None else trial.means)
    if np.array_equal(*means):
        raise ValueError(
            "environment must draw a new function at each reset; here training would use the functions that "
            "evaluations play. Take one of random functions, without function_seed"
        )


def _training_envs(
    new: Callable[[], gym.Env], problem: Problem | None, recipe: Recipe, num_envs: int, seed: int
) -> VecEnv:
    """Return copies of a problem in one simulator; wrapped environments are stepped one after another."""
    with from_extra("rl", "training a policy"):
        from stable_baselines3.common.vec_env import DummyVecEnv

        from .vector import library_vector_env
    if problem is not None:
        envs = library_vector_env(problem, num_envs, limit_of(new()), recipe.observation, recipe.box)
        envs.seed(FIRST + seed)  # as `TrainingSeeds`
    else:
        if isinstance(bare := new().unwrapped, BanditEnv):
            warn_if_blind(bare.problem, make_summary(recipe.observation, bare.setting).space)

        def one() -> gym.Env:
            env = TrainingSeeds(new())
            setting = env.get_wrapper_attr("setting")
            summary, unit = make_summary(recipe.observation, setting), published_unit(setting) or 1.0
            summary.unit = unit
            return _Played(SummaryObservation(env, summary), Plays(setting, recipe.box), unit)

        envs = DummyVecEnv([one] * num_envs)
        envs.seed(seed)
    return envs


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else repr(value)
