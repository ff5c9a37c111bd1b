"""Learners of stable-baselines3 and sb3-contrib: algorithms, presets, how a model is made, a warning.

They were found by `tools/tune_rl.py`, see docs/reinforcement.md. Without delay an action has no effect on
later rounds, hence a discount of 0. With delay a reward is delivered when other actions are played: a
positive discount lets it reach its own action, unless the learner credits rewards itself.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any

import numpy as np

from bandit_envs.basics.arguments import from_extra, require
from bandit_envs.problem.setting import Setting

from ..named import is_name

RESERVED = {
    "env": "it is the bridge to the loop",
    "seed": "reset(seed) gives it, apart from the environment's",
    "_init_setup_model": "the agent sets its model up",
}
TUNED: dict[str, dict[str, Any]] = {
    "ppo": {"n_steps": 4, "batch_size": 4, "n_epochs": 10, "learning_rate": 3e-3},
    "a2c": {"n_steps": 4, "learning_rate": 3e-3},
    "dqn": {
        "learning_starts": 10,
        "train_freq": 1,
        "gradient_steps": 4,
        "learning_rate": 3e-3,
        "exploration_fraction": 0.2,
    },
    "sac": {"learning_starts": 10, "batch_size": 32, "learning_rate": 3e-3, "ent_coef": 0.02},
    "td3": {"learning_starts": 10, "batch_size": 32, "learning_rate": 3e-3, "action_noise": 0.1},
    "trpo": {"n_steps": 8, "batch_size": 8, "target_kl": 0.2},
    "qr-dqn": {"learning_starts": 10, "train_freq": 1, "learning_rate": 3e-3, "exploration_fraction": 0.1},
    "recurrent-ppo": {"n_steps": 8, "batch_size": 8, "n_epochs": 4, "learning_rate": 1e-2},
}
TUNED["maskable-ppo"] = TUNED["ppo"]  # its plays are the same where all arms are available
GAMMA_IF_LATE = 0.8
WITH_REPLAY = ("dqn", "qr-dqn", "sac", "td3")


@dataclass(frozen=True)
class Algorithm:
    """A learner of stable-baselines3 or of a package built on it."""

    source: str | type  # "package:Class", or the class itself
    arms: bool = True  # True if it can play a `Discrete` action space
    box: bool = True  # True if it can play a `Box`
    policy: str = "MlpPolicy"  # default of its first argument
    masks: bool = False  # True if it reads the mask of available arms

    @property
    def name(self) -> str:
        """Name of the class."""
        return self.source.__name__ if isinstance(self.source, type) else self.source.partition(":")[2]

    def load(self) -> type:
        """Import the class."""
        if isinstance(self.source, type):
            return self.source
        package, _, name = self.source.partition(":")
        with from_extra("rl", "reinforcement-learning agents"):
            return getattr(import_module(package), name)


ALGORITHMS = {
    "ppo": Algorithm("stable_baselines3:PPO"),
    "a2c": Algorithm("stable_baselines3:A2C"),
    "dqn": Algorithm("stable_baselines3:DQN", box=False),
    "sac": Algorithm("stable_baselines3:SAC", arms=False),
    "td3": Algorithm("stable_baselines3:TD3", arms=False),
    "trpo": Algorithm("sb3_contrib:TRPO"),
    "qr-dqn": Algorithm("sb3_contrib:QRDQN", box=False),
    "recurrent-ppo": Algorithm("sb3_contrib:RecurrentPPO", policy="MlpLstmPolicy"),
    "maskable-ppo": Algorithm("sb3_contrib:MaskablePPO", box=False, masks=True),
}


def find_algorithm(algorithm: str | type) -> Algorithm:
    """Return the algorithm of a name, or of a class with `learn`; a subclass plays the spaces of its base."""
    if isinstance(algorithm, type) and hasattr(algorithm, "learn"):
        extended = {f"{base.__module__.partition('.')[0]}:{base.__name__}" for base in algorithm.__mro__}
        known = (named for named in ALGORITHMS.values() if named.source in extended)
        return replace(next(known, Algorithm(algorithm)), source=algorithm)
    known = is_name(algorithm, *ALGORITHMS)
    expected = f"a class with a method `learn` or one of {', '.join(ALGORITHMS)}"
    require(known, "algorithm", expected, algorithm)
    return ALGORITHMS[str(algorithm)]


def preset_options(preset: str, name: str | None, setting: Setting, attributed: bool) -> dict[str, Any]:
    """Return options of a constructor, of the preset "bandit" or "library"; None has the library's alone."""
    if preset == "library" or name is None:
        return {}
    replay = {"buffer_size": setting.horizon} if name in WITH_REPLAY else {}
    late = setting.max_delay > 0 and not attributed
    return {"gamma": GAMMA_IF_LATE if late else 0.0, **replay, **TUNED[name]}


@dataclass(frozen=True, eq=False)
class Recipe:
    """Specification of a learner."""

    algorithm: Algorithm
    options: Mapping[str, Any] = field(default_factory=dict)  # "action_noise" may be a std
    box: bool = False  # True if it plays points of the box, False for arms
    observation: Any = "none"  # see `make_summary`
    attribute: bool = False  # True credits delayed rewards to their own actions
    penalty: float = 0.0  # price of the positive parts of delivered costs

    def check(self) -> None:
        """Raise unless the model can be made; this imports the libraries."""
        learner, buffer = self.algorithm.load(), {"replay_buffer_class", "replay_buffer_kwargs"}
        allowed = [name for name in inspect.signature(learner).parameters if name not in RESERVED]
        for name in self.options:
            if name in RESERVED:
                raise ValueError(f"options must not hold {name!r}: {RESERVED[name]}")
            if name not in allowed:
                raise ValueError(f"{learner.__name__} has no option {name!r}; it takes {', '.join(allowed)}")
        if self.attribute:
            from stable_baselines3.common.off_policy_algorithm import OffPolicyAlgorithm

            if not issubclass(learner, OffPolicyAlgorithm):
                lacks = f"which {learner.__name__} has not; use dqn, qr-dqn, sac or td3"
                raise ValueError(f"attribute=True needs a replay buffer, {lacks}")
            for name in self.options.keys() & buffer:
                own = "attribute=True, which brings a buffer of its own; leave one of them out"
                raise ValueError(f"options must not hold {name!r} with {own}")

    def model(self, env: Any) -> Any:
        """Return a new model on an environment, with weights from the global generators."""
        model: Any = self.algorithm.load()(env=env, **self._arguments(env))
        if not (model.verbose or model.tensorboard_log):
            from stable_baselines3.common.logger import Logger

            model.set_logger(Logger(None, []))  # its own makes a folder for nothing at every training
        if self.attribute:
            from .vector import wait_for_feedback

            wait_for_feedback(model)
        return model

    def learnt(self, env: Any, steps: int, seed: int) -> Any:
        """Return a new model after so many steps, seeded as all generators that it draws from."""
        from stable_baselines3.common.utils import set_random_seed

        set_random_seed(seed)
        model = self.model(env)
        model.action_space.seed(seed)
        return model.learn(steps)

    def _arguments(self, env: Any) -> dict[str, Any]:
        # At these sizes a graphics card is slower, and less reproducible.
        given = {"policy": self.algorithm.policy, "device": "cpu", **self.options}
        if isinstance(given.get("action_noise"), int | float):
            from stable_baselines3.common.noise import NormalActionNoise

            size = env.action_space.shape
            given["action_noise"] = NormalActionNoise(np.zeros(size), np.full(size, given["action_noise"]))
        if self.attribute:
            from .vector import AttributedReplayBuffer

            given["replay_buffer_class"] = AttributedReplayBuffer
            given["replay_buffer_kwargs"] = {"penalty": self.penalty}
        return given


def plays_box(algorithm: Algorithm, setting: Setting, actions: str | None) -> bool:
    """Return True if an algorithm plays points of a box; by default arms, where there are any it can play."""
    require(actions is None or is_name(actions, "arms", "box"), "actions", 'None, "arms" or "box"', actions)
    box, remedy = setting.continuous or actions == "box", "make the environment without continuous=True"
    if actions is None and not algorithm.arms:
        box = True
    if setting.continuous and actions == "arms":
        raise ValueError(f'actions="arms" needs arms; {remedy}')
    if box and not algorithm.box:
        alone = f"{algorithm.name} plays arms alone, not the box [-1, 1]^{setting.dim}"
        raise ValueError(f"{alone}; {remedy}, or use ppo, a2c, trpo, sac or td3")
    if not box and not algorithm.arms:
        remedy = 'use actions="box", which plays the nearest arm'
        raise ValueError(f"{algorithm.name} plays boxes alone; {remedy}")
    return box
