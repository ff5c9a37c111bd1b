"""Options of factories, held against their annotations.

Text is no switch and a list no number. Functions that hand options on say which by a TypedDict,
`**options: Unpack[ModelOptions]`, so that an unknown one is found before the call.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import is_dataclass
from functools import cache, partial, wraps
from inspect import Parameter, isfunction, ismethod, signature, unwrap
from numbers import Real
from types import NoneType, SimpleNamespace, UnionType
from typing import Any, NamedTuple, ParamSpec, TypeVar, Union, Unpack, get_args, get_origin, get_type_hints

import numpy as np

from bandit_envs.basics.arguments import LARGEST_COUNT, ArgumentError, hint, is_integer, shown

from .validation import ONE_A_TRIAL, require_one_a_trial

Arguments = ParamSpec("Arguments")
Made = TypeVar("Made")


class Kind(NamedTuple):
    """The values that an annotation allows."""

    words: str
    holds: Callable[[Any], bool]


def typed(function: Callable[Arguments, Made]) -> Callable[Arguments, Made]:
    """Check what a function is given by keyword against its annotations before it is called."""

    @wraps(function)
    def checked(*args: Arguments.args, **keywords: Arguments.kwargs) -> Made:
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
    annotations = _annotations(takes)
    for name, value in given.items():
        expected = [_kind(each) for each in _alternatives(annotations.get(name))]
        if not any(kind is None or kind.holds(value) for kind in expected):
            words = " or ".join(kind.words for kind in expected if kind)
            default = signature(takes).parameters[name].default
            remedy = "" if default is Parameter.empty else f"; by default it is {shown(default)}"
            raise ArgumentError(name, f"must be {words}, got {shown(value)}{remedy}")
        if PER_TRIAL in expected and num_trials is not None:
            require_one_a_trial(name, value, num_trials)


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


def require_types(what: str, values: Any, types: Mapping[str, Any], all_of_them: bool = True) -> None:
    """Raise a ValueError unless some data of a file are a dict of exactly these fields, each of its type.

    Lists become tuples; without `all_of_them` fields may be missing.
    """
    if not isinstance(values, dict):
        raise ValueError(f"{what} in the file must be a dict, got {shown(values)}")
    strangers = sorted(set(values) - set(types), key=str)
    if strangers:
        raise ValueError(f"the file has {what} with {strangers[0]!r}, which this version does not know")
    missing = sorted(set(types) - set(values)) if all_of_them else []
    if missing:
        raise ValueError(f"the file has {what} without {missing[0]!r}")
    for name, value in values.items():
        if not _fits(value, types[name]):
            words = " or ".join(_words(each) for each in _alternatives(types[name]))
            raise ValueError(f"{name} of {what} in the file must be {words}, got {shown(value)}")


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
    for hinted in _annotations(takes).values():
        if get_origin(hinted) is Unpack:
            return get_args(hinted)[0]
    return None


def path_of(made: Callable[..., Any]) -> str:
    """Return the path of a function or a class, as `help` takes it."""
    kind = made if hasattr(made, "__qualname__") else type(made)
    return f"{kind.__module__}.{kind.__qualname__}"


def _annotations(takes: Callable[..., Any]) -> Mapping[str, Any]:
    """Return what arguments or fields are annotated with, if that has a meaning at run time."""
    made = takes.func if isinstance(takes, partial) else takes
    if isinstance(made, type):
        return _resolved(made if is_dataclass(made) else made.__init__)
    bound = made if isfunction(made) or ismethod(made) else type(made).__call__
    return _resolved(getattr(bound, "__func__", bound))


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


def _named(hinted: Any) -> Any:
    """Return the type behind an alias, without arguments: NDArray of new numpy is one from Python 3.12 on."""
    alias = get_origin(hinted) or hinted
    return _named(alias.__value__) if hasattr(alias, "__value__") else hinted


def _plain(hinted: Any) -> Any:
    """Return an annotation without its arguments."""
    return get_origin(_named(hinted)) or _named(hinted)


def _alternatives(hinted: Any) -> tuple[Any, ...]:
    hinted = _named(hinted)
    return get_args(hinted) if _plain(hinted) in (Union, UnionType) else (hinted,)


def _kind(hinted: Any) -> Kind | None:
    if ONE_A_TRIAL in getattr(hinted, "__metadata__", ()):
        return PER_TRIAL
    origin = _plain(hinted)
    return KINDS.get(origin) if isinstance(origin, type) else None


def _fits(value: Any, hinted: Any) -> bool:
    """Return whether a value of a file, with all that is in it, is what an annotation says."""
    kind, inside = _plain(hinted), get_args(_named(hinted))
    if kind in (Union, UnionType):
        return any(_fits(value, each) for each in inside)
    if kind is list:
        return isinstance(value, list) and all(_fits(each, inside[0]) for each in value)
    if kind is tuple:
        each_as = inside[:1] * len(value) if inside[-1] is Ellipsis and _is_listed(value) else inside
        return _is_listed(value) and len(value) == len(each_as) and all(map(_fits, value, each_as))
    if kind is dict:
        rows = value.items() if isinstance(value, dict) else [(None, None)]
        return all(_fits(key, inside[0]) and _fits(each, inside[1]) for key, each in rows)
    return hinted is Any or (IN_FILES[kind].holds(value) if kind in IN_FILES else isinstance(value, kind))


def _words(hinted: Any) -> str:
    plain = _plain(hinted)
    return IN_FILES[plain].words if plain in IN_FILES else getattr(hinted, "__name__", str(hinted))


def _is_listed(value: Any) -> bool:
    return isinstance(value, list | tuple)


def _is_real(value: Any) -> bool:
    """Return whether it is a number, infinity included, that a float can hold."""
    if not isinstance(value, Real) or isinstance(value, bool | np.bool_):
        return False
    try:
        return not math.isnan(value)
    except OverflowError:
        return False


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


def _is_numeric(value: Any) -> bool:
    """Return whether a value is an array, a number, or lists or tuples of these."""
    return all(map(_is_numeric, value)) if _is_listed(value) else isinstance(value, np.ndarray | Real)


PER_TRIAL = Kind("a number or an array of one a trial", _is_per_trial)
KINDS: dict[Any, Kind] = {
    bool: Kind("True or False", lambda value: isinstance(value, bool)),
    int: Kind("an integer", lambda value: is_integer(value) and abs(value) <= LARGEST_COUNT),
    float: Kind("a number", _is_real),
    str: Kind("text", lambda value: isinstance(value, str)),
    dict: Kind("a dict of names", _is_named),
    Mapping: Kind("a dict of names", _is_named),
    np.ndarray: Kind("an array of numbers", _are_real),
    NoneType: Kind("None", lambda value: value is None),
}
# Files hold integers of any size, such as states of generators, and a number where all of an array are alike.
IN_FILES = KINDS | {int: Kind("an integer", is_integer), np.ndarray: Kind("numbers", _is_numeric)}
