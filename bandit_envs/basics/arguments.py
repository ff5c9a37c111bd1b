"""Checks of arguments, each raising one clear `ValueError`; hints for misspelt names; optional packages."""

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from bandit_envs.basics.types import Floats, Ints

Numbers = float | int | Floats | Ints  # one, or an array of them

LARGEST_COUNT = 2**63 - 1  # the largest index of an array
LARGEST_STD = 1e150  # its square is finite
LEAST_SCALE = 1e-150  # its square is above 0
LARGEST_SIZE = 10**8  # numbers in one array, 0.8 GB: more are a typing error, or exhaust the memory
LONGEST = 200  # characters of a value in a message


def hint(name: str, names: Iterable[str]) -> str:
    """Return the nearest of the names in brackets, to follow the unknown one; "" if none is near.

    Names that begin with the unknown one come first: of "beta" that is "beta_scale", not "delta".
    """
    known = list(names)
    longer = [each for each in known if each.startswith(f"{name}_")]
    close = sorted(longer, key=len)[:1] or get_close_matches(name, known, n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""


def command_for(extra: str) -> str:
    """Return the command that installs an extra such as "rl", and what it is in a checkout."""
    return f"pip install 'gpbandits[{extra}]' (in a checkout: pip install '.[{extra}]')"


@contextmanager
def from_extra(extra: str, purpose: str) -> Iterator[None]:
    """Name the extra, such as "eval", that installs a package whose import fails in this block.

    `purpose` is the use of the package, a plural such as "figures".
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"{error.name} not found; {purpose} need {command_for(extra)}", name=error.name
        ) from error


class ArgumentError(ValueError):
    """Report a value that an argument cannot have, and why: "must be positive, got -1".

    `entry` is the agent or problem that was given the value; empty if the call names it.
    """

    def __init__(self, argument: str, complaint: str, entry: str = ""):
        super().__init__(argument, complaint, entry)  # so that it can be pickled between processes
        self.argument, self.complaint, self.entry = argument, complaint, entry

    def __str__(self) -> str:
        return f"{self.entry}{': ' if self.entry else ''}{self.argument} {self.complaint}"


@contextmanager
def written_as(names: Mapping[str, str]) -> Iterator[None]:
    """Rename arguments in errors to the names that the user wrote: {"std": "noise_std"}."""
    try:
        yield
    except ArgumentError as error:
        inner = error.argument
        name = inner if inner in names else inner.partition("[")[0]  # base["mean"] of delay["base"]
        if name not in names:
            raise
        raise ArgumentError(names[name] + inner[len(name) :], error.complaint, error.entry) from None


@contextmanager
def entry(name: str) -> Iterator[None]:
    """Name in errors the agent or problem that was given the wrong argument."""
    try:
        yield
    except ArgumentError as error:
        if error.entry:
            raise
        raise ArgumentError(error.argument, error.complaint, name) from None


def shown(value: Any) -> str:
    """Return a value as messages show it: on one line, of limited length."""
    text = " ".join(repr(value).split())
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


def require(condition: Any, argument: str, expected: str, given: Any) -> None:
    """Raise a ValueError that names the argument, what it must be and what it was."""
    if not condition:
        raise ArgumentError(argument, f"must be {expected}, got {shown(given)}")


def require_switch(argument: str, given: Any) -> None:
    """Raise unless the value is True or False: "no" would count as true."""
    require(isinstance(given, bool), argument, "True or False", given)


def require_choice(argument: str, given: Any, choices: Collection[str]) -> None:
    """Raise unless the value is one of the choices."""
    if not isinstance(given, str) or given not in choices:
        require(False, argument, " or ".join(f'"{choice}"' for choice in choices), given)


def require_known(kind: str, name: Any, known: Iterable[str]) -> None:
    """Raise unless a name is one of those that are known, which the message lists."""
    if name not in (known := list(known)):
        close = hint(name, known) if isinstance(name, str) else ""
        raise ValueError(f"unknown {kind} {name!r}{close}; choose one of {', '.join(known)}")


def as_array(values: Any) -> np.ndarray:
    """Return values as an array; of lists of different lengths an array of None, which is no number."""
    try:
        return np.asarray(values)
    except ValueError:
        return np.array(None)


def is_number(value: Any) -> bool:
    """Return whether a value is a finite real number; True is none, nor 10**400, which no float holds."""
    if not isinstance(value, Real) or isinstance(value, bool | np.bool_):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def is_integer(value: Any) -> bool:
    """Return whether a value is an integer; 3.0 and True are not."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def plain(value: Any) -> Any:
    """Return numpy's numbers, also those in dicts, lists and tuples, as Python's; others as they are.

    Arithmetic with an `np.int8` overflows at 128, and a `np.float32` rounds whatever it meets.
    """
    if isinstance(value, np.integer | np.floating):
        return value.item()
    if type(value) is dict:
        return {key: plain(each) for key, each in value.items()}
    return type(value)(map(plain, value)) if type(value) in (list, tuple) else value


def is_count(value: Any) -> bool:
    """Return whether a value is a positive integer that fits 64 bits."""
    return is_integer(value) and 0 < int(value) <= LARGEST_COUNT


def is_text(value: Any) -> bool:
    """Return whether a value is one line of text that a file can hold; half a surrogate pair is not."""
    whole = isinstance(value, str) and value.encode(errors="replace").decode() == value
    return whole and len(value.splitlines()) == 1


def require_size(name: str, value: Any, each: int = 1) -> None:
    """Raise unless the value is a positive integer, and so many rows of `each` numbers fit into memory."""
    require(is_count(value), name, "a positive integer", value)
    most = LARGEST_SIZE // int(each)
    require(value <= most, name, f"at most {most}, beyond which arrays do not fit into memory", value)


def require_seed(name: str, value: Any) -> None:
    """Raise unless the value is an integer of at least 0; 2.5, "3" and True are none."""
    require(is_integer(value) and value >= 0, name, "an integer >= 0", value)


class Option(NamedTuple):
    """A requirement on an argument: its words in a message, its test of a value, and the remedy.

    A float strictly between `least` and `most` passes; that is found without a call.
    """

    expected: str
    holds: Callable[[Any], Any]
    remedy: str = ""
    least: float = math.inf
    most: float = -math.inf

    def require(self, name: str, value: Any) -> None:
        """Raise unless the value passes."""
        if not self.holds(value):
            raise ArgumentError(name, refusal(self.expected, value, self.remedy))


def refusal(expected: str, given: Any, remedy: str) -> str:
    """Return a complaint: what a value must be, what it is, and the remedy if there is one."""
    return f"must be {expected}, got {shown(given)}{'; ' if remedy else ''}{remedy}"


class Range(NamedTuple):
    """A range of numbers: what messages say that they must be, and whether its ends belong to it.

    The check of one float, by far the most frequent, compares it and calls nothing.
    """

    expected: str
    least: float
    most: float = math.inf
    open_below: bool = False
    open_above: bool = True

    def holds(self, value: Numbers) -> bool:
        """Return whether all of some numbers, at least one, are in the range; NaN is in none, nor is text."""
        large = type(value) is int and is_number(value)  # beyond 64 bits it is no number to numpy
        values = np.asarray(float(value) if large else value)
        if values.dtype.kind not in "iuf" or not values.size:
            return False
        above = values > self.least if self.open_below else values >= self.least
        return bool((above & (values < self.most if self.open_above else values <= self.most)).all())

    def require(self, name: str, value: Numbers, remedy: str) -> None:
        """Raise unless every value is in the range."""
        if type(value) is float and self.least < value < self.most:
            return
        if not self.holds(value):
            raise ArgumentError(name, refusal(self.expected, value, remedy))

    def option(self, remedy: str = "", infinite: bool = False) -> Option:
        """Declare numbers of the range, with its end at infinity if that is asked for."""
        holds = self._replace(open_above=False).holds if infinite else self.holds
        return Option(self.expected, holds, remedy, self.least, self.most)


POSITIVE = Range("positive", 0.0, open_below=True)
NOT_NEGATIVE = Range("0 or positive", 0.0)
AT_LEAST_ONE = Range("at least 1", 1.0)
FRACTION = Range("in [0, 1]", 0.0, 1.0, open_above=False)
POSITIVE_FRACTION = Range("in (0, 1]", 0.0, 1.0, open_below=True, open_above=False)
PROBABILITY = Range("in (0, 1)", 0.0, 1.0, open_below=True)
SQUARED = Range(f"at most {LARGEST_STD:g}", -math.inf, LARGEST_STD, open_above=False)
SCALE = Range(f"from {LEAST_SCALE:g} to {LARGEST_STD:g}", LEAST_SCALE, LARGEST_STD, open_above=False)
require_positive = POSITIVE.require
require_not_negative = NOT_NEGATIVE.require
require_at_least_one = AT_LEAST_ONE.require
require_share = FRACTION.require


def require_probability(
    name: str, value: Numbers, remedy: str = "give a failure probability such as 0.1"
) -> None:
    """Raise unless every value lies strictly between 0 and 1."""
    PROBABILITY.require(name, value, remedy)


def at_least(least: int) -> str:
    """Return what messages say that an integer of at least `least` must be."""
    usual = {0: "0 or a positive integer", 1: "a positive integer"}
    return usual.get(least, f"an integer of at least {least}")


def require_integer(name: str, value: Any, least: int, remedy: str) -> None:
    """Raise unless the value is an integer of at least `least`; 2.5 and True are none."""
    if type(value) is int and least <= value <= LARGEST_COUNT:
        return
    if not is_integer(value) or not least <= value <= LARGEST_COUNT:
        raise ArgumentError(name, refusal(at_least(least), value, remedy))
