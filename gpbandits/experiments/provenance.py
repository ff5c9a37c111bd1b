"""The provenance of a cell is its code: package versions and, since code is edited between them, hashes."""

import hashlib
import inspect
import os
import platform
import re
import sys
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import gymnasium as gym
from gymnasium.envs.registration import EnvSpec, load_env_creator

import bandit_envs  # noqa: F401 (registers the ids)
from agents.registry import agent_modules, resolve_agent
from bandit_envs.basics.arguments import require
from bandit_envs.problems import FACTORIES
from gpbandits.experiments.source_code import digest

OURS = ("bandit_envs", "agents", "gpbandits")
VERSIONED = ("gpbandits", "gymnasium", "numpy", "scipy", "scikit-learn")
_PATH = re.compile(r"\bPathLike\b")  # in an annotation, which may be text
REQUIRED = "__distributions__"  # further distributions that the agents of a package use, in its `__init__`


def installed_version(distribution: str) -> str:
    """Return the version of a distribution, "uninstalled" for a mere checkout."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "uninstalled"


@cache
def versions(agent: str) -> dict[str, str]:
    """Return the versions of Python and of the distributions that an agent's numbers depend on.

    A package of agents names further distributions in `__distributions__ = ("torch",)`.
    """
    names = {*VERSIONED, *(name for module in agent_modules(agent) for name in _required(module))}
    return {"python": platform.python_version()} | {name: installed_version(name) for name in sorted(names)}


def _required(module: str) -> set[str]:
    """Return the names in `__distributions__` of a module and its parent packages."""
    parts = module.split(".")
    around = (sys.modules.get(".".join(parts[:end])) for end in range(1, 1 + len(parts)))
    return {name for each in around for name in getattr(each, REQUIRED, ())}


def environment_spec(env_id: str) -> dict[str, Any]:
    """Return Gymnasium's registration of an id as JSON."""
    spec = _spec(env_id)
    return {
        "id": spec.id,
        "entry_point": _entry_point(spec),
        "kwargs": spec.kwargs,
        "max_episode_steps": spec.max_episode_steps,
    }


@cache
def sources(environment: str, agent: str) -> dict[str, str]:
    """Return digests of our packages and of those that define the environment and the agent, by name."""
    modules = {*OURS, *_modules_of_environment(environment), *agent_modules(agent)}
    packages = {module.split(".")[0] for module in modules}
    return {package: digest(package) for package in sorted(packages)}


def named_files(
    environment: str, kwargs: Mapping[str, Any], agent: str, options: Mapping[str, Any]
) -> dict[str, str]:
    """Return digests of the files that options name, by path as given, since weights may be trained again.

    Only the values of parameters annotated with `os.PathLike` name files.
    """
    made = [(make, kwargs) for make in _makers_of_environment(environment)]
    made.append((resolve_agent(agent).make, options))
    texts = {text for make, given in made for name in _paths(make) for text in _texts(given.get(name))}
    found = {text for text in texts if os.path.isfile(text)}
    return {text: _digest_of_file(text, os.stat(text).st_mtime_ns) for text in sorted(found)}


@cache
def _paths(make: Callable[..., Any]) -> frozenset[str]:
    """Return the parameters annotated as paths."""
    parameters = inspect.signature(make).parameters.values()
    return frozenset(each.name for each in parameters if _PATH.search(str(each.annotation)))


@cache
def _digest_of_file(path: str, _modified: int) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]


def _texts(value: Any) -> list[str]:
    """Return the strings of a value: itself or the elements of an array."""
    return [each for each in (value if isinstance(value, list | tuple) else [value]) if isinstance(each, str)]


def _makers_of_environment(env_id: str) -> list[Callable[..., Any]]:
    """Return the class of an environment and, for ours, the factory of its named problem."""
    spec = _spec(env_id)
    made, problem = spec.entry_point, spec.kwargs.get("problem")
    makers = [load_env_creator(made) if isinstance(made, str) else made]
    makers += [FACTORIES[problem]] if isinstance(problem, str) and problem in FACTORIES else []
    return [make for make in makers if make is not None]


def _modules_of_environment(env_id: str) -> set[str]:
    """Return the module of the environment's class and the module that registers it."""
    made, registering = _entry_point(_spec(env_id)), env_id.rpartition(":")[0]
    return {made.split(":")[0], *([registering] if registering else [])}


def _spec(env_id: str) -> EnvSpec:
    module, _, name = env_id.rpartition(":")
    if module:
        import_module(module)
    known = name in gym.registry  # without a version gym.spec would take the latest, which may change
    require(known, "id", "a registered one with its version, such as 'GPBandit-GP-v0'", env_id)
    return gym.spec(name)


def _entry_point(spec: EnvSpec) -> str:
    """Return the place of the environment's code, "package.module:Class"."""
    made = spec.entry_point
    return made if isinstance(made, str) else f"{made.__module__}:{getattr(made, '__qualname__', made)}"
