"""Which code computed numbers: hashes of code by what it does."""

import ast
import hashlib
import inspect
import os
import platform
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import gymnasium as gym
from gymnasium.envs.registration import EnvSpec, load_env_creator

from agents.registry import agent_modules, resolve_agent
from bandit_envs.basics.arguments import require
from bandit_envs.basics.files import write_whole
from bandit_envs.data.files import cache_folder
from bandit_envs.problems import FACTORIES

PLAYING = "gpbandits.evaluation.loop"  # with all that it imports it determines a cell's numbers
# They are, or import, tables, figures, files, bars and origins, which change no numbers.
_SHOWING = ("comparison", "environments", "progress", "provenance", "result", "stamp")
SHOWING = tuple(f"gpbandits.evaluation.{name}" for name in _SHOWING)
PICTURES = {"bandit_envs": "rendering", "agents": "tuning/pictures"}  # folders that only draw, by package
_SUFFIXES = (".py", ".so", ".pyd", ".csv", ".toml")  # of code and of the tables that it reads
OURS = ("bandit_envs", "agents", "gpbandits")
VERSIONED = ("gpbandits", "gymnasium", "numpy", "scipy", "scikit-learn")
_PATH = re.compile(r"\bPathLike\b")  # in an annotation, which may be text
REQUIRED = "__distributions__"  # further distributions that the agents of a package use, in its `__init__`


@cache
def digest(package: str) -> str:
    """Return the hash of a package, or of a module with the neighbouring modules that it imports.

    For `gpbandits` only the modules that a cell's numbers depend on are hashed. As parsing takes a second,
    the hash is kept in the user's cache with that of the bytes, unless the cache cannot be written to.
    """
    paths = sorted(playing_modules() if package == "gpbandits" else files_of(package))
    files = [(path.name, path.read_bytes()) for path in paths]
    read = repr((platform.python_version(), Path(__file__).read_bytes(), files))
    content = hashlib.sha256(read.encode()).hexdigest()
    with suppress(OSError, ValueError):
        of, known = (cache_folder() / "code" / package).read_text().split()
        if of == content:
            return known
    total = hashlib.sha256()
    for name, text in files:
        total.update(name.encode() + meaning(name, text))
    with suppress(OSError):
        kept = cache_folder() / "code" / package
        kept.parent.mkdir(parents=True, exist_ok=True)
        write_whole(kept, f"{content} {total.hexdigest()[:16]}".encode())
    return total.hexdigest()[:16]


def playing_modules() -> set[Path]:
    """Return the modules of the lab that compute cells, with all that they import of it, lazily or not."""
    spec = find_spec("gpbandits")
    assert spec is not None  # this module belongs to it
    assert spec.origin is not None
    root = Path(spec.origin).parents[1]

    def find(name: str) -> Path | None:
        if not name.startswith("gpbandits.") or name in SHOWING:
            return None
        path = root.joinpath(*name.split("."))
        return next(filter(Path.is_file, (path.with_suffix(".py"), path / "__init__.py")), None)

    loop = find(PLAYING)
    assert loop is not None
    return _closure([loop], find)


def files_of(package: str) -> set[Path]:
    """Return the files of code and tables of a package, or of a module with its neighbours."""
    spec = find_spec(package)
    if spec is None:
        return set()
    if spec.submodule_search_locations is None:
        return _with_neighbours(Path(spec.origin)) if spec.origin else set()
    places = [Path(place) for place in spec.submodule_search_locations]
    pictures = [place / PICTURES[package] for place in places if package in PICTURES]
    code = [path for place in places for path in place.rglob("*") if path.suffix in _SUFFIXES]
    return {path for path in code if not any(folder in path.parents for folder in pictures)}


def _with_neighbours(module: Path) -> set[Path]:
    """Return a module and the modules of its folder that it imports, recursively; others have a version."""

    def find(name: str) -> Path | None:
        beside = module.with_name(f"{name.split('.')[0]}.py")
        return beside if beside.is_file() else None

    return _closure([module], find)


def _closure(roots: list[Path], find: Callable[[str], Path | None]) -> set[Path]:
    """Return files and all that they import, recursively, as far as `find` locates it."""
    known, new = set[Path](), set(roots)
    while new:
        known |= new
        imported = {find(name) for path in new if path.suffix == ".py" for name in _imported(path)}
        new = {path for path in imported if path} - known
    return known


def _imported(module: Path) -> set[str]:
    """Return the names imported anywhere in a module; `from a import b` gives `a` and `a.b`."""
    nodes = list(ast.walk(ast.parse(module.read_bytes())))
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


def meaning(name: str, content: bytes) -> bytes:
    """Return a module's syntax tree without docstrings, positions and comments; other files unchanged."""
    if not name.endswith(".py"):
        return content
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError):  # written for another Python, or a template
        return content
    for node in ast.walk(tree):
        documented = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        if documented and ast.get_docstring(node, clean=False) is not None:
            del node.body[0]
    return ast.dump(tree).encode()


@cache
def versions(agent: str) -> dict[str, str]:
    """Return the versions of Python and of the distributions that an agent's numbers depend on.

    A package of agents names further distributions in `__distributions__ = ("torch",)`.
    """
    return versions_of(agent_modules(agent))


def versions_of(modules: Iterable[str]) -> dict[str, str]:
    """Return the versions of Python and of what the agents of these modules, or their packages, name."""
    parts = {".".join(x.split(".")[:end]) for x in modules for end in range(1, 1 + len(x.split(".")))}
    required = {name for part in parts for name in getattr(sys.modules.get(part), REQUIRED, ())}
    found = {"python": platform.python_version()}
    for name in sorted({*VERSIONED, *required}):
        found[name] = "uninstalled"  # a mere checkout
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def environment_spec(env_id: str) -> dict[str, Any]:
    """Return Gymnasium's registration of an id as JSON."""
    spec = _spec(env_id)
    made = {"id": spec.id, "entry_point": _entry_point(spec), "kwargs": spec.kwargs}
    return made | {"max_episode_steps": spec.max_episode_steps}


@cache
def sources(environment: str, agent: str) -> dict[str, str]:
    """Return digests of our packages and of those that define the environment and the agent, by name."""
    return digests({*modules_of_environment(environment), *agent_modules(agent)})


def digests(modules: Iterable[str]) -> dict[str, str]:
    """Return digests of our packages and of those of some modules, by name; none of a script or notebook."""
    packages = {*OURS, *(module.split(".")[0] for module in modules)} - {"__main__"}
    return {package: digest(package) for package in sorted(packages)}


def named_files(
    environment: str, kwargs: Mapping[str, Any], agent: str, options: Mapping[str, Any]
) -> dict[str, str]:
    """Return digests of the files that options name, by path as given, since weights may be trained again.

    Only the values of parameters annotated with `os.PathLike` name files.
    """
    of_environment = frozenset().union(*map(_paths, _makers_of_environment(environment)))
    of_agent = _paths(resolve_agent(agent).make)
    return files_among([*map(kwargs.get, of_environment), *map(options.get, of_agent)])


def files_among(values: Iterable[Any]) -> dict[str, str]:
    """Return digests of the files that values, or parts of lists, name by path."""
    each = [part for value in values for part in (value if isinstance(value, list | tuple) else [value])]
    found = {os.fspath(x) for x in each if isinstance(x, str | os.PathLike) and os.path.isfile(x)}
    return {text: _digest_of_file(text, os.stat(text).st_mtime_ns) for text in sorted(found)}


@cache
def _paths(make: Callable[..., Any]) -> frozenset[str]:
    parameters = inspect.signature(make).parameters.values()
    return frozenset(each.name for each in parameters if _PATH.search(str(each.annotation)))


@cache
def _digest_of_file(path: str, _modified: int) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]


@cache
def _makers_of_environment(env_id: str) -> list[Callable[..., Any]]:
    """Return the class of an environment and, for ours, the factory of its named problem."""
    spec = _spec(env_id)
    made, problem = spec.entry_point, spec.kwargs.get("problem")
    makers = [load_env_creator(made) if isinstance(made, str) else made]
    makers += [FACTORIES[problem]] if isinstance(problem, str) and problem in FACTORIES else []
    return [make for make in makers if make is not None]


def modules_of_environment(env_id: str) -> set[str]:
    """Return the module of an environment's class, and that which registers it where the id names one."""
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
    made = spec.entry_point
    return made if isinstance(made, str) else f"{made.__module__}:{getattr(made, '__qualname__', made)}"
