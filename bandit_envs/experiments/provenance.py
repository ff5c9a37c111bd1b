"""Which code computed a cell: a version number does not change while one edits, so sources are hashed too."""

import hashlib
import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

import gymnasium as gym

import bandit_envs  # noqa: F401 (registers the ids)
from bandit_envs.plugins import resolve_agent

VERSIONED = ("gpbandits", "gymnasium", "numpy", "scipy", "scikit-learn")
_SUFFIXES = (".py", ".csv", ".toml")  # of code and of the tables that it reads


def installed_version(distribution: str) -> str:
    """The version of an installed distribution; a checkout that is not installed has none."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "uninstalled"


def versions() -> dict[str, str]:
    """The versions of Python and of what the numbers rest on."""
    return {"python": platform.python_version()} | {name: installed_version(name) for name in VERSIONED}


@cache
def sources(environment: str, agent: str) -> dict[str, str]:
    """Digests of the packages that the environment and the agent are made of, by name."""
    packages = {"bandit_envs", _package_of_environment(environment), _package_of_agent(agent)}
    return {package: digest(package) for package in sorted(packages)}


@cache
def digest(package: str) -> str:
    """The hash of a package's sources, or of a module's."""
    spec = find_spec(package)
    places = [] if spec is None else spec.submodule_search_locations or [spec.origin]
    total = hashlib.sha256()
    for path in sorted(path for place in places if place for path in _files(Path(place))):
        total.update(path.name.encode() + path.read_bytes())
    return total.hexdigest()[:16]


def _files(place: Path) -> list[Path]:
    return [place] if place.is_file() else [path for path in place.rglob("*") if path.suffix in _SUFFIXES]


def _package_of_agent(name: str) -> str:
    return resolve_agent(name).make.__module__.split(".")[0]


def _package_of_environment(env_id: str) -> str:
    if ":" in env_id:
        return env_id.split(".")[0].split(":")[0]
    entry_point = gym.spec(env_id).entry_point
    module = (
        entry_point if isinstance(entry_point, str) else getattr(entry_point, "__module__", "bandit_envs")
    )
    return module.split(":")[0].split(".")[0]
