"""The learners of stable-baselines3 and sb3-contrib, with the action spaces that they can play."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

from bandit_envs.basics.extras import from_extra

RESERVED = {
    "env": "it is the bridge to the loop",
    "seed": "reset(seed) gives it, apart from the environment's",
    "_init_setup_model": "the agent sets its model up",
}


@dataclass(frozen=True)
class Algorithm:
    """A learner of stable-baselines3 or of a package built on it.

    Args:
        source: "package:Class", or the class itself.
        arms: True if it can play a `Discrete` action space.
        box: True if it can play a `Box`.
        policy: default of its first argument.
        masks: True if it reads the mask of available arms.
    """

    source: str | type
    arms: bool = True
    box: bool = True
    policy: str = "MlpPolicy"
    masks: bool = False

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
    """Return the algorithm of a name in `ALGORITHMS`, or of a class with their constructor and `learn`.

    A subclass of one of these plays its action spaces; any other class plays all action spaces.
    """
    if isinstance(algorithm, type) and hasattr(algorithm, "learn"):
        extended = {f"{base.__module__.partition('.')[0]}:{base.__name__}" for base in algorithm.__mro__}
        known = (named for named in ALGORITHMS.values() if named.source in extended)
        return replace(next(known, Algorithm(algorithm)), source=algorithm)
    if not isinstance(algorithm, str) or algorithm not in ALGORITHMS:
        raise ValueError(
            f"algorithm must be a class with a method `learn` or one of {', '.join(ALGORITHMS)}, "
            f"got {algorithm!r}"
        )
    return ALGORITHMS[algorithm]


def check_options(learner: type, options: dict[str, Any]) -> None:
    """Raise unless the constructor takes every option and none of them is reserved."""
    allowed = [name for name in inspect.signature(learner).parameters if name not in RESERVED]
    for name in options:
        if name in RESERVED:
            raise ValueError(f"options must not hold {name!r}: {RESERVED[name]}")
        if name not in allowed:
            raise ValueError(f"{learner.__name__} has no option {name!r}; it takes {', '.join(allowed)}")
