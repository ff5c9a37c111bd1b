"""Laws and parts by name: the classes that each is made of, and the options of its own."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from types import CodeType, ModuleType
from typing import Any

from agents.acquisition.by_name import RULES, Always, WithMargin, WithWidth
from agents.acquisition.improvement import INCUMBENTS
from agents.beliefs.by_name import BELIEFS
from agents.kernels.amplitude import InContext
from agents.model.model import Model
from agents.model.units import PriorUnits
from agents.objectives.by_name import CONSTRAINTS
from agents.objectives.first_plays import GivenUnits
from agents.objectives.parts import PenalisedParts
from agents.restarts.by_name import RESTARTS
from agents.restarts.on_alarm import InOrder
from agents.widths.by_name import WIDTHS
from agents.widths.information_gain import Realised
from bandit_envs import laws

Registry = Mapping[str, Callable[..., Any]]
PARTS: Mapping[str, Registry] = {
    "rule": RULES,
    "width": WIDTHS,
    "incumbent": INCUMBENTS,
    "belief": BELIEFS,
    "constraint": CONSTRAINTS,
    "restart": RESTARTS,
}
PLUMBING = (  # of any part
    Always,
    WithMargin,
    WithWidth,
    InContext,
    Model,
    GivenUnits,
    PriorUnits,
    PenalisedParts,
    InOrder,
    Realised,
)
STEPS = ("dmm", "penalised_parts", "rectified_parts", "primal_dual_parts", "safe_parts")


def laws_by_kind() -> dict[str, Registry]:
    """Every registry of laws, by the module that has it."""
    kinds = {name: getattr(laws, name) for name in laws.__all__}
    return {name: kind.LAWS for name, kind in kinds.items() if isinstance(kind, ModuleType)}


def built(part: Callable[..., Any]) -> list[type]:
    """The classes that a part is made of: itself, or those that its factory names."""
    return list(dict.fromkeys(each for each in _named(part) if each not in PLUMBING))


def _named(made: Any) -> Iterator[type]:
    """Classes of ours in a factory's arguments and code, in builders and in the functions beside it."""
    if isinstance(made, partial):
        yield from (each for each in made.args if inspect.isclass(each))
        yield from _named(made.func)
    elif inspect.isclass(made) and re.match("Of[A-Z]", made.__name__):  # a builder, or what one is given
        yield from _named(vars(made)["__call__"]) if "__call__" in vars(made) else ()
    elif inspect.isclass(made):
        yield made
    else:
        made = inspect.unwrap(made)
        names = list(_names(made.__code__))
        modules = [each for name in names if isinstance(each := made.__globals__.get(name), ModuleType)]
        ours = [vars(module) for module in modules if module.__name__.startswith("agents.")]
        for name in names:
            found = next((each[name] for each in (made.__globals__, *ours) if name in each), None)
            if getattr(found, "__module__", "").startswith("agents.") and _is_step(name, made, found):
                yield from _named(found)


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _names(inner)


def _is_step(name: str, made: Any, found: Any) -> bool:
    """Whether it is a class, or a function on the way to one: one beside it, but for checks and choices."""
    if inspect.isclass(found):
        return True
    beside = found.__module__ == made.__module__ and not name.startswith(("make_", "require_"))
    return inspect.isfunction(found) and (beside or name in STEPS)


def options(kind: str, part: Callable[..., Any]) -> dict[str, Any]:
    """What a factory takes beside what all of its kind take, with defaults; a class is documented itself."""
    if inspect.isclass(part):
        return {}
    usual = set.intersection(*(set(inspect.signature(each).parameters) for each in PARTS[kind].values()))
    parameters = inspect.signature(part).parameters.values()
    return {each.name: each.default for each in parameters if each.name not in usual | {"own"}}
