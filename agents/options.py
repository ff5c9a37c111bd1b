"""Inputs of agents: options, held against their annotations at the edge, and facts that fit the setting.

Text is no switch and a list no number. An annotation declares a range and a remedy too,

    eps: Annotated[float, positive("it is a regret")]

for a factory as for a part that is `CheckedOptions`. Functions that hand options on say which by a TypedDict,
`**options: Unpack[ModelOptions]`, so that an unknown one is found before the call.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import is_dataclass
from functools import cache, partial, wraps
from inspect import Parameter, isfunction, ismethod, signature, unwrap
from numbers import Real
from types import NoneType, SimpleNamespace, UnionType
from typing import (
    Annotated,
    Any,
    NamedTuple,
    ParamSpec,
    TypeVar,
    Union,
    Unpack,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np

from bandit_envs.basics.arguments import (
    LARGEST_COUNT,
    ArgumentError,
    hint,
    is_count,
    is_integer,
    is_number,
    require,
    require_seed,
    require_size,
    shown,
)
from bandit_envs.basics.types import Floats, Ints


def require_trials(num_trials: int | None) -> None:
    """Raise unless num_trials is a positive integer, or None for a single trial without a trial axis."""
    if num_trials is not None:
        require(is_count(num_trials), "num_trials", "None or a positive integer", num_trials)
        require_size("num_trials", num_trials)


def require_one_a_trial(name: str, value: Any, num_trials: int) -> None:
    """Raise unless the value is a number, or an array of one number a trial, (B,)."""
    expected = f"a number or {num_trials} of them, one a trial"
    if np.shape(value) not in ((), (num_trials,)):
        raise ArgumentError(name, f"must be {expected}, got an array of shape {np.shape(value)}")


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


def require_annotated(
    takes: Callable[..., Any], given: Mapping[str, Any], num_trials: int | None = None
) -> None:
    """Raise unless values are of the kinds that arguments are annotated with; all else is their own to check.

    Annotations of other kinds than ours allow anything. What a function hands on is checked where it has its
    default. An array of one number a trial has B of them, `num_trials`, None if it is not known.
    """
    if not given:
        return
    owner = _annotated(takes)
    for name, value in given.items():
        kinds = _kinds(owner, name)
        if not any(kind is None or kind.holds(value) for kind in kinds):
            declared, default = list(filter(None, kinds)), signature(takes).parameters[name].default
            remedies = [kind.remedy for kind in declared if kind.remedy]
            if not remedies and default is not Parameter.empty:
                remedies = [f"by default it is {shown(default)}"]
            words = " or ".join(kind.expected for kind in declared)
            raise ArgumentError(name, "; ".join([f"must be {words}, got {shown(value)}", *remedies]))
        if num_trials is not None and PER_TRIAL in kinds:
            require_one_a_trial(name, value, num_trials)


class CheckedOptions:
    """Check the fields of a dataclass against their annotations, once it is made."""

    def __post_init__(self) -> None:
        require_annotated(type(self), vars(self))


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
    for hinted in _resolved(_annotated(takes)).values():
        if get_origin(hinted) is Unpack:
            return get_args(hinted)[0]
    return None


def path_of(made: Callable[..., Any]) -> str:
    """Return the path of a function or a class, as `help` takes it."""
    kind = made if hasattr(made, "__qualname__") else type(made)
    return f"{kind.__module__}.{kind.__qualname__}"


def _annotated(takes: Callable[..., Any]) -> Any:
    """Return the function or the dataclass whose annotations are those of what is called."""
    made = takes.func if isinstance(takes, partial) else takes
    if isinstance(made, type):
        return made if is_dataclass(made) else made.__init__
    bound = made if isfunction(made) or ismethod(made) else type(made).__call__
    return getattr(bound, "__func__", bound)


@cache
def _kinds(owner: Any, name: str) -> list[Option | None]:
    """Return the kinds that an argument of a function or a dataclass may be of; None is any."""
    return [_kind(each) for each in alternatives(_resolved(owner).get(name))]


@cache
def _resolved(owner: Any) -> Mapping[str, Any]:
    """Return the annotations of a function or a dataclass."""
    bodies = owner.__mro__[::-1] if isinstance(owner, type) else filter(isfunction, [unwrap(owner)])
    found: dict[str, Any] = {}
    for body in bodies:
        said = vars(body).get("__annotations__", {}) if isinstance(body, type) else body.__annotations__
        for name, written in said.items():
            alone = SimpleNamespace(__annotations__={name: written})
            with suppress(NameError):
                found |= get_type_hints(alone, vars(sys.modules[body.__module__]), include_extras=True)
    return found


def named_of(hinted: Any) -> Any:
    """Return the type behind an alias, without arguments: NDArray of new numpy is one from Python 3.12 on."""
    while hasattr(alias := get_origin(hinted) or hinted, "__value__"):
        hinted = alias.__value__
    return hinted


def plain_of(hinted: Any) -> Any:
    """Return an annotation without its arguments."""
    named = named_of(hinted)
    return get_origin(named) or named


def alternatives(hinted: Any) -> tuple[Any, ...]:
    """Return the members of a union, or the annotation itself."""
    named = named_of(hinted)
    return get_args(named) if get_origin(named) in (Union, UnionType) else (named,)


def _kind(hinted: Any) -> Option | None:
    for declared in getattr(hinted, "__metadata__", ()):
        if isinstance(declared, Option):
            return declared
    origin = plain_of(hinted)
    return KINDS.get(origin) if isinstance(origin, type) else None


class Option(NamedTuple):
    """What an argument must be, which values are so, and the remedy where one is not."""

    expected: str
    holds: Callable[[Any], Any]
    remedy: str = ""


def positive(remedy: str) -> Option:
    """Declare a positive finite number."""
    return Option("positive", lambda value: is_number(value) and value > 0, remedy)


def not_negative(remedy: str) -> Option:
    """Declare a finite number of at least 0."""
    return Option("not negative", lambda value: is_number(value) and value >= 0, remedy)


def count(remedy: str) -> Option:
    """Declare a positive integer."""
    return Option("a positive integer", is_count, remedy)


def probability(remedy: str) -> Option:
    """Declare a number strictly between 0 and 1."""
    return Option("in (0, 1)", lambda value: is_number(value) and 0 < value < 1, remedy)


def one_of(*names: str) -> Option:
    """Declare one of some names."""
    return Option(
        " or ".join(f'"{name}"' for name in names), lambda value: isinstance(value, str) and value in names
    )


def _is_real(value: Any) -> bool:
    """Return whether it is a number, infinity included, that a float can hold."""
    return is_number(value) or (isinstance(value, Real) and value in (math.inf, -math.inf))


def _are_real(value: Any) -> bool:
    """Return whether it is a list or an array of numbers."""
    try:
        numbers = np.asarray(value)
    except ValueError:  # rows of different lengths
        return False
    return numbers.dtype.kind in "iuf" and numbers.ndim > 0 and numbers.size > 0


def _is_per_trial(value: Any) -> bool:
    filled = isinstance(value, np.ndarray) and value.ndim < 2 and value.size > 0
    return _is_real(value) or (filled and value.dtype.kind in "iuf")


def _is_named(value: Any) -> bool:
    return isinstance(value, Mapping) and all(isinstance(key, str) for key in value)


PER_TRIAL = Option("a number or an array of one a trial", _is_per_trial)
KINDS: dict[Any, Option] = {
    bool: Option("True or False", lambda value: isinstance(value, bool)),
    int: Option("an integer", lambda value: is_integer(value) and abs(value) <= LARGEST_COUNT),
    float: Option("a number", _is_real),
    str: Option("text", lambda value: isinstance(value, str)),
    dict: Option("a dict of names", _is_named),
    Mapping: Option("a dict of names", _is_named),
    np.ndarray: Option("an array of numbers", _are_real),
    NoneType: Option("None", lambda value: value is None),
}
PerTrial = Annotated[float | int | Floats | Ints, PER_TRIAL]  # a number for all trials, or one each, (B,)
