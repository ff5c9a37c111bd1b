"""Inputs of agents: options, held against their annotations at the edge, and facts that fit the setting.

Functions that hand options on say which by a TypedDict, `**options: Unpack[ModelOptions]`, so that an unknown
one is found before the call.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache, wraps
from inspect import Parameter, signature, unwrap
from typing import Annotated, Any, ParamSpec, TypeVar, Unpack, get_args, get_origin

import numpy as np

from bandit_envs.basics.arguments import (
    ArgumentError,
    hint,
    is_count,
    require,
    require_seed,
    require_size,
    shown,
)
from bandit_envs.basics.options import PerTrial as PerTrial
from bandit_envs.basics.options import annotated, annotation_of, probability, require_annotated
from bandit_envs.basics.types import Floats


def require_trials(num_trials: int | None) -> None:
    """Raise unless num_trials is a positive integer, or None for a single trial without a trial axis."""
    if num_trials is not None:
        require(is_count(num_trials), "num_trials", "None or a positive integer", num_trials)
        require_size("num_trials", num_trials)


def require_costs(cost: Floats, num_constraints: int) -> None:
    """Raise unless feedback has as many costs, (n, C), as the setting has constraints."""
    if cost.shape[1] != num_constraints:
        expected = f"{num_constraints} cost(s)"
        raise ValueError(
            f'info["feedback_cost"] must have {expected} a slot, got {cost.shape[1]}; '
            "play the environment whose setting the agent was made for"
        )


def seeds_of(seed: Any, num_trials: int | None) -> list[int]:
    """Return the seeds of an agent's trials, one or B; raise a ValueError if their number differs."""
    if num_trials is None:
        return [one_seed(seed)]
    listed = isinstance(seed, Sequence | np.ndarray) and not isinstance(seed, str)
    if not listed or len(seed) != num_trials:
        given = len(seed) if listed else shown(seed)
        raise ArgumentError("seed", f"must be {num_trials} integers, one a trial; got {given}")
    return list(map(one_seed, seed))


def one_seed(seed: Any) -> int:
    """Return the seed of one trial; raise unless it is an integer of at least 0."""
    require_seed("seed", seed)
    return int(seed)


def require_context(observation: Any, several: bool) -> None:
    """Raise where a recommendation needs a context and none is given."""
    if several and observation is None:
        raise ValueError("recommend needs the observation of a context, got None")


def require_reset(done: bool) -> None:
    """Raise unless the agent has been reset once."""
    if not done:
        raise RuntimeError("the agent was asked before its first reset; call reset(seed) first")


Delta = Annotated[float, probability("give a failure probability such as 0.1")]  # of an agent
Arguments = ParamSpec("Arguments")
Made = TypeVar("Made")


def typed(function: Callable[Arguments, Made]) -> Callable[Arguments, Made]:
    """Check what a function is given by keyword against its annotations before it is called."""

    @wraps(function)
    def checked(*args: Arguments.args, **keywords: Arguments.kwargs) -> Made:
        if keywords:
            require_taken(function, keywords)
            require_annotated(function, keywords)
        return function(*args, **keywords)

    return checked


def require_taken(
    takes: Callable[..., Any], given: Collection[str], role: str = "", reserved: Collection[str] = ()
) -> None:
    """Raise where a function, a class or a partial of one has no option of a name.

    Its options are those of its signature and of the TypedDict of its `**options`; one of another annotation
    takes all. `role` is of what is made, for the message, and `reserved` arguments are no options.
    """
    if not given:
        return
    known = keywords_of(takes)
    taken = [*given] if known is None else known
    for name in given:
        if name in reserved or name not in taken:
            near, path = hint(name, [each for each in taken if each not in reserved]), path_of(takes)
            raise ValueError(f"unknown option {name!r} of {role}{path}{near}; help({path}) has them all")


def require_absent(options: Mapping[str, Any], names: Collection[str], reason: str) -> None:
    """Raise where an option that an agent cannot follow is neither left out nor off."""
    for name in names:
        if options.get(name):
            raise ArgumentError(name, f"must be left out: {reason}, got {shown(options[name])}")


def require_arms(setting: Any, reason: str) -> None:
    """Raise where an agent of finite sets is given a box."""
    if setting.continuous:
        raise ArgumentError("setting", f"must have arms, got a box; {reason}")


def require_once(options: Mapping[str, Any], reason: str) -> None:
    """Raise where an agent that chooses in every round is asked to hold arms."""
    if (repeat := options.get("repeat", 1.0)) != 1.0:
        raise ArgumentError("repeat", f"must be 1, got {shown(repeat)}: {reason}")


def require_left_out(name: str, given: Any, default: Any, where: str, remedy: str) -> None:
    """Raise where an option that has no effect is given another value than its default."""
    if not np.array_equal(given, default):
        raise ArgumentError(
            name, f"must be left out {where}: it would have no effect, got {shown(given)}; {remedy}"
        )


def keywords_of(takes: Callable[..., Any]) -> list[str] | None:
    """Return the names that may be given by keyword, or None where any may."""
    taken: list[str] = []
    for each in signature(takes).parameters.values():
        if each.kind is Parameter.VAR_KEYWORD:
            if (options := typed_dict_of(takes)) is None:
                return None
            taken += options.__annotations__
        elif each.kind in (Parameter.KEYWORD_ONLY, Parameter.POSITIONAL_OR_KEYWORD):
            taken.append(each.name)
    return taken


def typed_dict_of(takes: Callable[..., Any]) -> type | None:
    """Return the TypedDict of what a function hands on, `**options: Unpack[...]`, if it says one."""
    return _handed_on(annotated(takes))


@cache
def _handed_on(owner: Any) -> type | None:
    for name in reversed(getattr(unwrap(owner), "__annotations__", {})):
        if get_origin(hinted := annotation_of(owner, name)) is Unpack:
            return get_args(hinted)[0]
    return None


def path_of(made: Callable[..., Any]) -> str:
    """Return the path of a function or a class, as `help` takes it."""
    kind = made if hasattr(made, "__qualname__") else type(made)
    return f"{kind.__module__}.{kind.__qualname__}"
