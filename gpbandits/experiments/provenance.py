"""Which code computed a cell: a version number does not change while one edits, so sources are hashed too."""

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
REQUIRED = "__distributions__"  # what else the agents of a package rest on, in its `__init__`


def installed_version(distribution: str) -> str:
    """The version of an installed distribution; a checkout that is not installed has none."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "uninstalled"


@cache
def versions(agent: str) -> dict[str, str]:
    """The versions of Python and of what the numbers of an agent rest on.

    A package of agents names further distributions in `__distributions__ = ("torch",)`.
    """
    names = {*VERSIONED, *(name for module in agent_modules(agent) for name in _required(module))}
    return {"python": platform.python_version()} | {name: installed_version(name) for name in sorted(names)}


def _required(module: str) -> set[str]:
    """What a module and the packages around it name in `__distributions__`."""
    parts = module.split(".")
    around = (sys.modules.get(".".join(parts[:end])) for end in range(1, 1 + len(parts)))
    return {name for each in around for name in getattr(each, REQUIRED, ())}


def environment_spec(env_id: str) -> dict[str, Any]:
    """What Gymnasium has registered under an id."""
    spec = _spec(env_id)
    return {
        "id": spec.id,
        "entry_point": _entry_point(spec),
        "kwargs": spec.kwargs,
        "max_episode_steps": spec.max_episode_steps,
    }


@cache
def sources(environment: str, agent: str) -> dict[str, str]:
    """Digests of our packages, and of those that the environment and the agent are made of, by name."""
    modules = {*OURS, *_modules_of_environment(environment), *agent_modules(agent)}
    packages = {module.split(".")[0] for module in modules}
    return {package: digest(package) for package in sorted(packages)}


def named_files(
    environment: str, kwargs: Mapping[str, Any], agent: str, options: Mapping[str, Any]
) -> dict[str, str]:
    """Digests of the files that options name, by their paths as given: weights may be trained again.

    An option names a file where its parameter is annotated with `os.PathLike`; a file of the current folder
    that is called like any other option means nothing.
    """
    made = [(make, kwargs) for make in _makers_of_environment(environment)]
    made.append((resolve_agent(agent).make, options))
    texts = {text for make, given in made for name in _paths(make) for text in _texts(given.get(name))}
    found = {text for text in texts if os.path.isfile(text)}
    return {text: _digest_of_file(text, os.stat(text).st_mtime_ns) for text in sorted(found)}


@cache
def _paths(make: Callable[..., Any]) -> frozenset[str]:
    """The parameters that are declared to be paths."""
    parameters = inspect.signature(make).parameters.values()
    return frozenset(each.name for each in parameters if _PATH.search(str(each.annotation)))


@cache
def _digest_of_file(path: str, _modified: int) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]


def _texts(value: Any) -> list[str]:
    """A text, or those of an array."""
    return [each for each in (value if isinstance(value, list | tuple) else [value]) if isinstance(each, str)]


def _makers_of_environment(env_id: str) -> list[Callable[..., Any]]:
    """Its class, and the factory of the named problem where it is one of ours."""
    spec = _spec(env_id)
    made, problem = spec.entry_point, spec.kwargs.get("problem")
    makers = [load_env_creator(made) if isinstance(made, str) else made]
    makers += [FACTORIES[problem]] if isinstance(problem, str) and problem in FACTORIES else []
    return [make for make in makers if make is not None]


def _modules_of_environment(env_id: str) -> set[str]:
    """Of the class, and the module that registers it."""
    made, registering = _entry_point(_spec(env_id)), env_id.rpartition(":")[0]
    return {made.split(":")[0], *([registering] if registering else [])}


def _spec(env_id: str) -> EnvSpec:
    module, _, name = env_id.rpartition(":")
    if module:
        import_module(module)
    known = name in gym.registry  # which also makes "X" of the latest "X-v1", whose meaning would change
    require(known, "id", "a registered one with its version, such as 'GPBandit-GP-v0'", env_id)
    return gym.spec(name)


def _entry_point(spec: EnvSpec) -> str:
    """Where the environment's code is, "package.module:Class"."""
    made = spec.entry_point
    return made if isinstance(made, str) else f"{made.__module__}:{getattr(made, '__qualname__', made)}"
