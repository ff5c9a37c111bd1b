"""Which code computed a cell: a version number does not change while one edits, so sources are hashed too."""

import hashlib
import platform
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import gymnasium as gym
from gymnasium.envs.registration import EnvSpec

import bandit_envs  # registers the ids
from bandit_envs.plugins import resolve_agent

VERSIONED = ("gpbandits", "gymnasium", "numpy", "scipy", "scikit-learn")
_SUFFIXES = (".py", ".csv", ".toml")  # of code and of the tables that it reads
_APART = {"commands", "report", "reproductions"}  # of ours: what shows numbers and does not make them


def installed_version(distribution: str) -> str:
    """The version of an installed distribution; a checkout that is not installed has none."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "uninstalled"


@cache
def versions() -> dict[str, str]:
    """The versions of Python and of what the numbers rest on."""
    return {"python": platform.python_version()} | {name: installed_version(name) for name in VERSIONED}


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
    packages = {"bandit_envs", _package_of_environment(environment), _package_of_agent(agent)}
    return {package: digest(package) for package in sorted(packages)}


@cache
def digest(package: str) -> str:
    """The hash of a package's sources, or of a module's; of ours, of those that numbers depend on."""
    spec = find_spec(package)
    places = [] if spec is None else spec.submodule_search_locations or [spec.origin]
    total = hashlib.sha256()
    for path in sorted(path for place in places if place for path in _files(Path(place))):
        total.update(path.name.encode() + path.read_bytes())
    return total.hexdigest()[:16]


def _files(place: Path) -> list[Path]:
    if place.is_file():
        return [place]
    apart = {Path(bandit_envs.__file__).parent / name for name in _APART}
    return [
        path for path in place.rglob("*") if path.suffix in _SUFFIXES and not apart.intersection(path.parents)
    ]


def _package_of_agent(name: str) -> str:
    return resolve_agent(name).make.__module__.split(".")[0]


def _package_of_environment(env_id: str) -> str:
    return env_id.split(":")[0].split(".")[0] if ":" in env_id else _entry_point(_spec(env_id)).split(".")[0]


def _spec(env_id: str) -> EnvSpec:
    module, _, name = env_id.rpartition(":")
    if module:
        import_module(module)
    return gym.spec(name)


def _entry_point(spec: EnvSpec) -> str:
    """Where the environment's code is, "package.module:Class"."""
    made = spec.entry_point
    return made if isinstance(made, str) else f"{made.__module__}:{getattr(made, '__qualname__', made)}"
