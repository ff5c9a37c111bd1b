"""What is public in the three packages, and the one place at which each name is documented."""

from __future__ import annotations

import inspect
import pkgutil
from functools import cache
from importlib import import_module
from typing import Any, is_typeddict

import gymnasium
from parts import PARTS, built, laws_by_kind

import agents
import bandit_envs
import gpbandits
from agents.registry import by_attribute, names, resolve_agent
from bandit_envs.problems import FACTORIES

TOP = (bandit_envs, agents, gpbandits)


@cache
def modules() -> dict[str, list[str]]:
    """Every package with its modules, itself first."""
    found: dict[str, list[str]] = {top.__name__: [top.__name__] for top in TOP}
    for top in TOP:
        for module in pkgutil.walk_packages(top.__path__, f"{top.__name__}."):
            if module.ispkg:
                found[module.name] = [module.name]
            elif not module.name.endswith("__main__"):
                found[module.name.rpartition(".")[0]].append(module.name)
    return found


def exported(module: str) -> dict[str, Any]:
    """What a module offers by `__all__`, and `agents` by its registry too."""
    made = import_module(module)
    offered = list(getattr(made, "__all__", ()))
    if made is agents:
        offered += [attribute for attribute, name in by_attribute().items() if name in own_agents()]
    return {name: getattr(made, name) for name in sorted(set(offered))}


@cache
def own_agents() -> tuple[str, ...]:
    """The registered names of this distribution, and of no other that is installed."""
    made = {name: resolve_agent(name).make for name in names()}
    return tuple(name for name, factory in made.items() if factory.__module__.startswith("agents."))


@cache
def registered() -> frozenset[int]:
    """The identities of what goes by a name: problems, laws, what parts are made of, and agents."""
    made = [part for kind in (FACTORIES, *laws_by_kind().values(), *PARTS.values()) for part in kind.values()]
    made += [each for kind in PARTS.values() for part in kind.values() for each in built(part)]
    made += [agents.registry.resolve_agent(name).make for name in own_agents()]
    return frozenset(id(getattr(part, "func", part)) for part in made)


def defined(module: str) -> dict[str, Any]:
    """What a module itself defines that goes by a name, its wrappers of environments and sets of options."""
    return {
        name: made
        for name, made in vars(import_module(module)).items()
        if not name.startswith("_") and is_code(made) and made.__module__ == module and made.__name__ == name
        if id(made) in registered()
        or is_typeddict(made)
        or (inspect.isclass(made) and issubclass(made, gymnasium.Wrapper))
    }


def is_code(made: Any) -> bool:
    """Whether it is a class or a function, of which there is one wherever it is imported."""
    return inspect.isclass(made) or inspect.isfunction(inspect.unwrap(made))


@cache
def places() -> dict[int, str]:
    """The path at which each class and function is documented, by its identity: the first public one."""
    paths: dict[int, str] = {}
    for top in TOP:
        for name, made in exported(top.__name__).items():
            if is_code(made):
                paths.setdefault(_identity(made), f"{top.__name__}.{name}")
    for module in (module for group in modules().values() for module in group):
        for name, made in {**exported(module), **defined(module)}.items():
            if is_code(made):
                paths.setdefault(_identity(made), f"{module}.{name}")
    return paths


def place(made: Any) -> str:
    """The path at which a class or function is documented; of a partial, what it calls."""
    made = getattr(made, "func", made)
    return places().get(_identity(made), f"{made.__module__}.{made.__qualname__}")


def _identity(made: Any) -> int:
    """The identity of what is documented: of a factory that `agents` wraps, the factory's own."""
    return id(inspect.unwrap(made) if inspect.isfunction(made) else made)
