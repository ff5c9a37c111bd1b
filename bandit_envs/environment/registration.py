"""Register the ids; nothing heavy is imported until an environment is made."""

from typing import Any

import gymnasium as gym

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
    "GPBandit-Real-v1": "real",
}


def register() -> None:
    """Register every id that is not registered yet, and every real task as an id of its own."""
    for env_id, problem in IDS.items():
        _register(env_id, problem=problem)
    for task in shipped("problems/tasks.toml"):
        _register(real_id(task), problem="real", task=task)


def real_id(task: str) -> str:
    """Return the id of a real task of its own."""
    return f"GPBandit-Real/{task}-v1"


def _register(env_id: str, **kwargs: Any) -> None:
    if env_id not in gym.registry:
        gym.register(
            env_id,
            entry_point="bandit_envs.environment.envs:BanditEnv",
            vector_entry_point="bandit_envs.environment.vector:BanditVectorEnv",
            kwargs=kwargs,
        )
