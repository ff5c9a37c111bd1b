"""Register the ids, and state an environment as made; nothing heavy is imported until one is made."""

import json
import re
from dataclasses import asdict, fields
from difflib import get_close_matches
from typing import Any

import gymnasium as gym
from gymnasium.envs.registration import EnvSpec

from bandit_envs.basics.files import shipped

IDS = {
    "GPBandit-GP-v0": "gp",
    "GPBandit-RKHS-v0": "rkhs",
    "GPBandit-Delayed-v0": "delayed",
    "GPBandit-Contextual-v0": "contextual",
    "GPBandit-Constrained-v0": "constrained",
    "GPBandit-Duel-v0": "duel",
    "GPBandit-Hard-v0": "hard",
    "GPBandit-Budget-v0": "budget",
    "GPBandit-Clicks-v0": "clicks",
    "GPBandit-PiecewiseStationary-v0": "piecewise-stationary",
    "GPBandit-Composite-v0": "composite",
    "GPBandit-Rosenbrock-v0": "rosenbrock",
    "GPBandit-Hartmann3-v0": "hartmann3",
    "GPBandit-SmallFeasibleRegion-v0": "small-feasible-region",
    "GPBandit-DataRateAllocation-v0": "data-rate-allocation",
    "GPBandit-IntelTemperature-v0": "intel-temperature",
    "GPBandit-CMULight-v0": "cmu-light",
    "GPBandit-LogisticTuning-v0": "logistic-tuning",
    "GPBandit-CNNTuning-v0": "cnn-tuning",
    "GPBandit-SVMTuning-v0": "svm-tuning",
    "GPBandit-MultiTaskSVM-v0": "multi-task-svm",
    "GPBandit-GrowingDataSVM-v0": "growing-data-svm",
    "GPBandit-Real-v2": "real",
    "GPBandit-Table-v0": "table",
}


def near_id(text: str) -> str:
    """Return the id nearest to a text, or to its middle as in "composit", in brackets; "" if none is near."""
    middles = {_middle(env_id): env_id for env_id in IDS} | {_middle(name): x for x, name in IDS.items()}
    close = [middles[each] for each in get_close_matches(_middle(text), list(middles), n=1)]
    close = close or get_close_matches(text, list(IDS), n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""


def _middle(text: str) -> str:
    """Return a name without its prefix, version and hyphens, in small letters."""
    plain = text.rpartition(":")[2].lower().removeprefix("gpbandit-")
    return re.sub(r"-v\d+$", "", plain).replace("-", "").replace("_", "")


def register() -> None:
    """Register every id that is not registered yet, and every real task as an id of its own."""
    for env_id, problem in IDS.items():
        _register(env_id, problem=problem)
    for task in shipped("problems/tasks.toml"):
        _register(real_id(task), problem="real", task=task)


def real_id(task: str) -> str:
    """Return the id of a real task of its own."""
    return f"GPBandit-Real/{task}-v2"


class BanditSpec(EnvSpec):
    """State how an environment was made; `max_episode_steps` is its horizon.

    An id is registered without a limit, which would cut a longer `horizon`.
    """

    @classmethod
    def of(cls, spec: EnvSpec | None, limit: int) -> EnvSpec | None:
        """Return Gymnasium's spec of an environment that ends after `limit` rounds."""
        if spec is None:
            return None
        given = {each.name: getattr(spec, each.name) for each in fields(spec) if each.init}
        return cls(**{**given, "max_episode_steps": limit})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, EnvSpec) and asdict(self) == asdict(other)

    def to_json(self) -> str:
        """Return the spec as JSON; raise where a keyword is an object, such as a kernel."""
        for name, value in self.kwargs.items():
            try:
                json.dumps(value)
            except TypeError as error:
                from bandit_envs.basics.arguments import ArgumentError, shown

                text = "text, numbers, lists and dicts alone where a spec is written as JSON, got {}; {}"
                remedy = 'describe it, as in kernel="matern52", length_scale=0.2'
                raise ArgumentError(name, f"must be {text.format(shown(value), remedy)}") from error
        return super().to_json()


def _register(env_id: str, **kwargs: Any) -> None:
    if env_id not in gym.registry:
        gym.register(
            env_id,
            entry_point="bandit_envs.environment.envs:BanditEnv",
            vector_entry_point="bandit_envs.environment.vector:BanditVectorEnv",
            kwargs=kwargs,
        )
