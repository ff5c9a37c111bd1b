"""Options, declared once: an annotation says what a value must be, and the remedy where it is not.

    eps: Annotated[float, positive("it is a regret")] = 0.1

A plain `bool` or `float` is a declaration, too: text is no switch, and a list no number. A `Checked`
dataclass is checked when it is made; a function's arguments are, by `require_annotated`, before its call.
`parse` makes a law from its description: of {"law": "poisson", "mean": 10} it is `PoissonDelay(mean=10)`.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import MISSING, fields, is_dataclass
from functools import cache, partial
from inspect import Parameter, isfunction, ismethod, signature, unwrap
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin

import numpy as np

from bandit_envs.basics import arguments
from bandit_envs.basics.arguments import ArgumentError, Option, is_integer, is_number, refusal, shown
from bandit_envs.basics.types import Floats, Ints

positive = arguments.POSITIVE.option
not_negative = arguments.NOT_NEGATIVE.option
at_least_one = arguments.AT_LEAST_ONE.option
fraction = arguments.FRACTION.option  # in [0, 1]
positive_fraction = arguments.POSITIVE_FRACTION.option  # in (0, 1]
probability = arguments.PROBABILITY.option  # in (0, 1)
SQUARED_STD = arguments.SQUARED.option("its square is the variance")
SQUARED_SCALE = arguments.SCALE.option("it is squared")


def number(expected: str, valid: Callable[[float], bool], remedy: str = "") -> Option:
    """Declare a finite number that passes a test."""
    return Option(expected, lambda value: is_number(value) and valid(value), remedy)


def whole(least: int, remedy: str = "") -> Option:
    """Declare an integer of at least `least`."""

    def holds(value: Any) -> bool:
        return is_integer(value) and least <= value <= arguments.LARGEST_COUNT

    return Option(arguments.at_least(least), holds, remedy, least - 1, arguments.LARGEST_COUNT)


def count(remedy: str = "") -> Option:
    """Declare a positive integer."""
    return whole(1, remedy)


def one_of(*names: str) -> Option:
    """Declare one of some names, of a `str`, whose kind is checked first."""
    expected = " or ".join(f'"{name}"' for name in names)
    return Option(expected, lambda value: value in names)


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


PER_TRIAL = Option("a number or an array of one a trial", _is_per_trial, "", -math.inf, math.inf)
PerTrial = Annotated[float | int | Floats | Ints, PER_TRIAL]  # a number for all trials, or one each, (B,)
KINDS: dict[Any, Option] = {
    bool: Option("True or False", lambda value: isinstance(value, bool)),
    int: Option("an integer", lambda value: is_integer(value) and abs(value) <= arguments.LARGEST_COUNT),
    float: Option("a number", _is_real, "", -math.inf, math.inf),
    str: Option("text", lambda value: isinstance(value, str)),
    dict: Option("a dict of names", _is_named),
    Mapping: Option("a dict of names", _is_named),
    np.ndarray: Option("an array of numbers", _are_real),
    NoneType: Option("None", lambda value: value is None),
}


class Argument(NamedTuple):
    """Alternatives of an argument: a value must pass all options of one; where there are none, all pass.

    A value of the type `simple` strictly between `least` and `most` is allowed; that is found without a call.
    """

    alternatives: tuple[tuple[Option, ...], ...] = ()
    simple: type | None = None
    least: float = math.inf
    most: float = -math.inf
    per_trial: bool = False  # whether it may be an array of one number a trial

    def require(self, takes: Callable[..., Any], name: str, value: Any) -> None:
        """Raise unless a value is of some alternative; without a remedy the message has the default."""
        words: list[str] = []
        remedies: list[str] = []
        for options in self.alternatives:
            refusing = next((each for each in options if not each.holds(value)), None)
            if refusing is None:
                return
            words.append(refusing.expected)
            remedies += [each.remedy for each in (refusing, *options) if each.remedy][:1]
        if words:
            if not remedies:
                default = signature(takes).parameters[name].default
                remedies = [] if default is Parameter.empty else [f"by default it is {shown(default)}"]
            raise ArgumentError(name, refusal(" or ".join(words), value, "; ".join(remedies)))


class Checked:
    """Check the fields of a dataclass against their annotations, once it is made; defaults need no check.

    It holds numbers of other libraries as Python's: arithmetic with an `np.int8` overflows at 128.
    """

    def __post_init__(self) -> None:
        kind, values = type(self), self.__dict__
        for name, default in _defaults(kind):
            value = values[name]
            if value is default:
                continue
            argument = _argument(kind, name)
            if type(value) is argument.simple and argument.least < value < argument.most:
                continue
            foreign = isinstance(value, np.number) or not isinstance(value, int | float)
            if foreign and _is_real(value):
                value = int(value) if isinstance(value, Integral) else float(value)
                object.__setattr__(self, name, value)
            argument.require(kind, name, value)


@cache
def _defaults(kind: Any) -> list[tuple[str, Any]]:
    return [(each.name, each.default) for each in fields(kind) if each.init]


def require_annotated(
    takes: Callable[..., Any], given: Mapping[str, Any], num_trials: int | None = None
) -> None:
    """Raise unless values are of the kinds that arguments are annotated with; all else is their own to check.

    Annotations of other kinds than ours allow anything. What a function hands on is checked where it has its
    default. An array of one number a trial has B of them, `num_trials`, None if it is not known.
    """
    if not given:
        return
    owner = annotated(takes)
    for name, value in given.items():
        argument = _argument(owner, name)
        if type(value) is argument.simple and argument.least < value < argument.most:
            continue
        argument.require(takes, name, value)
        if num_trials is not None and argument.per_trial:
            require_one_a_trial(name, value, num_trials)


def require_one_a_trial(name: str, value: Any, num_trials: int) -> None:
    """Raise unless the value is a number, or an array of one number a trial, (B,)."""
    expected = f"a number or {num_trials} of them, one a trial"
    if np.shape(value) not in ((), (num_trials,)):
        raise ArgumentError(name, f"must be {expected}, got an array of shape {np.shape(value)}")


def annotated(takes: Callable[..., Any]) -> Any:
    """Return the function or the dataclass whose annotations are those of what is called."""
    made = takes.func if isinstance(takes, partial) else takes
    if isinstance(made, type):
        return made if is_dataclass(made) else made.__init__
    bound = made if isfunction(made) or ismethod(made) else type(made).__call__
    return getattr(bound, "__func__", bound)


def annotation_of(owner: Any, name: str) -> Any:
    """Return the annotation of an argument or a field; None where type checkers alone can read it."""
    for body in owner.__mro__ if isinstance(owner, type) else [unwrap(owner)]:
        said = getattr(body, "__annotations__", {})  # of a class only its own; builtins have none
        if name in said:
            with suppress(NameError):
                written = said[name]
                return eval(written, vars(sys.modules[body.__module__])) if type(written) is str else written
    return None


@cache
def _argument(owner: Any, name: str) -> Argument:
    """Return what an argument of a function or a dataclass may be."""
    each = [_options(hinted) for hinted in alternatives(annotation_of(owner, name))]
    if not all(each):
        return Argument()
    first = each[0]
    kind = int if first[0].holds is KINDS[int].holds else float
    least, most = max(option.least for option in first), min(option.most for option in first)
    return Argument(tuple(each), kind, least, most, any(PER_TRIAL in options for options in each))


def _options(hinted: Any) -> tuple[Option, ...]:
    """Return the options of a member of an annotation: first its kind, refused in the words of its range."""
    declared = [each for each in getattr(hinted, "__metadata__", ()) if isinstance(each, Option)]
    origin = plain_of(hinted.__origin__ if declared else hinted)
    kind = KINDS.get(origin) if isinstance(origin, type) else None
    if kind is None or PER_TRIAL in declared:
        return tuple(declared)
    return (declared[0]._replace(holds=kind.holds), *declared) if declared else (kind,)


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


def parse(argument: str, spec: Any, laws: Mapping[str, type], kind: type | None = None) -> Any:
    """Return the law described by {"law": name, parameter: value, ...}, by its name alone or by a law.

    A law is one of the named ones, or any of their `kind`, if that is given.
    """
    if isinstance(spec, str):
        spec = {"law": spec}
    if not isinstance(spec, Mapping):
        if isinstance(spec, (*laws.values(), *([kind] if kind else []))):
            return spec
        such = f'{{"law": "{next(iter(laws))}"}}'
        raise ArgumentError(argument, f"must be a dict such as {such}, got {shown(spec)}")
    name = spec.get("law")
    if not isinstance(name, str) or name not in laws:
        complaint = f"must be one of {', '.join(laws)}, got {shown(name)}"
        raise ArgumentError(f'{argument}["law"]', complaint)
    parameters = {key: value for key, value in spec.items() if key != "law"}
    given = {each.name: each for each in fields(laws[name]) if each.init}
    for key in parameters:
        if key not in given:
            takes = ", ".join(given) or "nothing"
            raise ValueError(f"{argument} {name!r} has no {key!r}; it takes {takes}")
    for key, each in given.items():
        if key not in parameters and each.default is MISSING and each.default_factory is MISSING:
            raise ArgumentError(f'{argument}["{key}"]', f"must be given, {name!r} has no default for it")
    with arguments.written_as({key: f'{argument}["{key}"]' for key in parameters}):
        return laws[name](**parameters)
