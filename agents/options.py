"""Options held against the annotations of who takes them: text is no switch, and a list no number."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cache, partial, wraps
from inspect import Parameter, signature
from numbers import Real
from types import NoneType, UnionType
from typing import Any, NamedTuple, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from bandit_envs.basics.arguments import LARGEST_COUNT, ArgumentError, is_integer, shown

from .validation import ONE_A_TRIAL, require_one_a_trial

Arguments = ParamSpec("Arguments")
Made = TypeVar("Made")


class Kind(NamedTuple):
    """What an annotation allows."""

    words: str
    holds: Callable[[Any], bool]


def typed(function: Callable[Arguments, Made]) -> Callable[Arguments, Made]:
    """Check what a function is given by keyword against its annotations before it is called."""

    @wraps(function)
    def checked(*args: Arguments.args, **keywords: Arguments.kwargs) -> Made:
        require_annotated(function, keywords)
        return function(*args, **keywords)

    return checked


def require_annotated(
    takes: Callable[..., Any], given: Mapping[str, Any], num_trials: int | None = None
) -> None:
    """Raise unless values are of the kinds that arguments are annotated with; all else is their own to check.

    Args:
        takes: a function, a class or a partial of one. Annotations of other kinds than ours allow anything.
        given: to it, by keyword.
        num_trials: B, of which an array of one number a trial has as many; None if it is not known.
    """
    kinds = _kinds_of(takes.func if isinstance(takes, partial) else takes)
    for name, value in given.items():
        expected = kinds.get(name, ())
        if expected and not any(kind.holds(value) for kind in expected):
            words = " or ".join(kind.words for kind in expected)
            default = signature(takes).parameters[name].default
            remedy = "" if default is Parameter.empty else f"; by default it is {shown(default)}"
            raise ArgumentError(name, f"must be {words}, got {shown(value)}{remedy}")
        if PER_TRIAL in expected and num_trials is not None:
            require_one_a_trial(name, value, num_trials)


def require_left_out(name: str, given: Any, default: Any, where: str, remedy: str) -> None:
    """Raise where an option that has no effect is given another value than its default."""
    if not np.array_equal(given, default):
        raise ArgumentError(
            name, f"must be left out {where}: it would have no effect, got {shown(given)}; {remedy}"
        )


@cache
def _kinds_of(takes: Callable[..., Any]) -> dict[str, tuple[Kind, ...]]:
    """The kinds of values that arguments may have, of those whose annotations say nothing else."""
    body = takes.__init__ if isinstance(takes, type) else takes
    try:
        hints = get_type_hints(body, include_extras=True)
    except (NameError, TypeError):  # imported for type checkers alone, or of an object that is called
        return {}
    found = {name: [_kind(each) for each in _alternatives(hint)] for name, hint in hints.items()}
    return {name: tuple(filter(None, kinds)) for name, kinds in found.items() if None not in kinds}


def _alternatives(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def _kind(hint: Any) -> Kind | None:
    if ONE_A_TRIAL in getattr(hint, "__metadata__", ()):
        return PER_TRIAL
    origin = get_origin(hint) or hint
    return KINDS.get(origin) if isinstance(origin, type) else None


def _is_real(value: Any) -> bool:
    """Whether it is a number, infinity included, that a float can hold."""
    if not isinstance(value, Real) or isinstance(value, bool | np.bool_):
        return False
    try:
        return not math.isnan(value)
    except OverflowError:
        return False


def _are_real(value: Any) -> bool:
    """Whether it is a list or an array of numbers."""
    try:
        numbers = np.asarray(value)
    except ValueError:  # rows of different lengths
        return False
    return numbers.dtype.kind in "iuf" and numbers.ndim > 0 and numbers.size > 0


def _is_per_trial(value: Any) -> bool:
    return _is_real(value) or (isinstance(value, np.ndarray) and value.ndim < 2 and _is_filled(value))


def _is_filled(value: np.ndarray) -> bool:
    return value.dtype.kind in "iuf" and value.size > 0


def _is_named(value: Any) -> bool:
    return isinstance(value, Mapping) and all(isinstance(key, str) for key in value)


PER_TRIAL = Kind("a number or an array of one a trial", _is_per_trial)
KINDS: dict[type, Kind] = {
    bool: Kind("True or False", lambda value: isinstance(value, bool)),
    int: Kind("an integer", lambda value: is_integer(value) and abs(value) <= LARGEST_COUNT),
    float: Kind("a number", _is_real),
    str: Kind("text", lambda value: isinstance(value, str)),
    dict: Kind("a dict of names", _is_named),
    Mapping: Kind("a dict of names", _is_named),
    np.ndarray: Kind("an array of numbers", _are_real),
    NoneType: Kind("None", lambda value: value is None),
}
