"""Which code computed a cell: a version number does not change while one edits, so sources are hashed too."""

import hashlib
import os
import platform
import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import gymnasium as gym
from gymnasium.envs.registration import EnvSpec

import bandit_envs  # noqa: F401 (registers the ids)
from agents.registry import agent_modules
from gpbandits.experiments.source_code import digest

OURS = ("bandit_envs", "agents", "gpbandits")
VERSIONED = ("gpbandits", "gymnasium", "numpy", "scipy", "scikit-learn")
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


def named_files(*tables: Any) -> dict[str, str]:
    """Digests of the files that options name, by their paths as given: weights may be trained again."""
    found = {text for table in tables for text in _texts(table) if os.path.isfile(text)}
    return {text: _digest_of_file(text, os.stat(text).st_mtime_ns) for text in sorted(found)}


@cache
def _digest_of_file(path: str, _modified: int) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]


def _texts(value: Any) -> Iterator[str]:
    """Every text in nested tables and arrays."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _texts(part)


def _modules_of_environment(env_id: str) -> set[str]:
    """Of the class, and the module that registers it."""
    made, registering = _entry_point(_spec(env_id)), env_id.rpartition(":")[0]
    return {made.split(":")[0], *([registering] if registering else [])}


def _spec(env_id: str) -> EnvSpec:
    module, _, name = env_id.rpartition(":")
    if module:
        import_module(module)
    return gym.spec(name)


def _entry_point(spec: EnvSpec) -> str:
    """Where the environment's code is, "package.module:Class"."""
    made = spec.entry_point
    return made if isinstance(made, str) else f"{made.__module__}:{getattr(made, '__qualname__', made)}"
