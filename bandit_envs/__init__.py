"""Gaussian-process bandit environments for Gymnasium; `import bandit_envs` registers the ids, and no more."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from bandit_envs.environment.registration import register

if TYPE_CHECKING:
    from bandit_envs.environment.envs import BanditEnv, make
    from bandit_envs.environment.vector import BanditVectorEnv
    from bandit_envs.kernels.gram import Gram
    from bandit_envs.problem.decisions import Decisions
    from bandit_envs.problem.problem import Problem
    from bandit_envs.problem.setting import Setting

__all__ = ["BanditEnv", "BanditVectorEnv", "Decisions", "Gram", "Problem", "Setting", "make"]

_HOMES = {
    "BanditEnv": "environment.envs",
    "BanditVectorEnv": "environment.vector",
    "Decisions": "problem.decisions",
    "Gram": "kernels.gram",
    "Problem": "problem.problem",
    "Setting": "problem.setting",
    "make": "environment.envs",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'bandit_envs' has no attribute {name!r}")
    return getattr(import_module(f"bandit_envs.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)  # also of what is not imported yet, and nothing else


register()
