"""Which code computed a cell: a version number does not change while one edits, so sources are hashed too."""

import ast
import hashlib
import os
import platform
import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import gymnasium as gym
from gymnasium.envs.registration import EnvSpec

import bandit_envs  # registers the ids
from agents.registry import agent_modules

VERSIONED = ("gpbandits", "gymnasium", "numpy", "scipy", "scikit-learn")
REQUIRED = "__distributions__"  # what else the agents of a package rest on, in its `__init__`
_SUFFIXES = (".py", ".so", ".pyd", ".csv", ".toml")  # of code and of the tables that it reads
_APART = {"commands", "report", "reproductions"}  # of ours: what shows numbers and does not make them


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
    """Digests of the packages that the environment and the agent are made of, by name."""
    modules = {"bandit_envs", *_modules_of_environment(environment), *agent_modules(agent)}
    packages = {module.split(".")[0] for module in modules}
    return {package: digest(package) for package in sorted(packages)}


@cache
def digest(package: str) -> str:
    """The hash of a package's sources; or of a module's, and of the modules beside it that it imports.

    Of ours, the hash of those that numbers depend on.
    """
    spec = find_spec(package)
    places = [] if spec is None else spec.submodule_search_locations or [spec.origin]
    total = hashlib.sha256()
    for path in sorted(path for place in places if place for path in _files(Path(place))):
        total.update(path.name.encode() + path.read_bytes())
    return total.hexdigest()[:16]


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


def _files(place: Path) -> list[Path]:
    if place.is_file():
        return sorted(_with_neighbours(place, set()))
    apart = {Path(bandit_envs.__file__).parent / name for name in _APART}
    return [
        path for path in place.rglob("*") if path.suffix in _SUFFIXES and not apart.intersection(path.parents)
    ]


def _with_neighbours(module: Path, known: set[Path]) -> set[Path]:
    """A module and those in its folder that it imports, and so on; others come with a version."""
    known.add(module)
    if module.suffix == ".py":
        for name in _imported(module):
            beside = module.with_name(f"{name}.py")
            if beside.is_file() and beside not in known:
                _with_neighbours(beside, known)
    return known


def _imported(module: Path) -> set[str]:
    """The first names of what a module imports anywhere in it."""
    nodes = list(ast.walk(ast.parse(module.read_bytes())))
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module}
    return {name.split(".")[0] for name in names}


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
