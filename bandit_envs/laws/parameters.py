"""Declare what the parameters of a law may be, beside their defaults.

    mean: float = positive(10.0)

A law that is `Checked` raises one clear error for a parameter that is something else.
"""

from collections.abc import Callable
from dataclasses import field, fields
from typing import Any

from bandit_envs.basics.arguments import is_count, is_number, require


class Checked:
    """Check the declared parameters of a dataclass, in their order, once it is made."""

    def __post_init__(self) -> None:
        for each in fields(self):  # type: ignore[arg-type]
            if "valid" in each.metadata:
                value = getattr(self, each.name)
                require(each.metadata["valid"](value), each.name, each.metadata["expected"], value)


def parameter(default: Any, expected: str, valid: Callable[[Any], bool]) -> Any:
    """Declare a parameter by its default, what messages say that it must be, and the test of a value."""
    return field(default=default, metadata={"expected": expected, "valid": valid})


def number(default: float, expected: str, valid: Callable[[float], bool]) -> Any:
    """Declare a finite number that passes a test."""
    return parameter(default, expected, lambda value: is_number(value) and valid(value))


def positive(default: float) -> Any:
    """Declare a positive number."""
    return number(default, "positive", lambda value: value > 0)


def not_negative(default: float) -> Any:
    """Declare a number of at least 0."""
    return number(default, "0 or positive", lambda value: value >= 0)


def probability(default: float) -> Any:
    """Declare a number in [0, 1]."""
    return number(default, "a probability", lambda value: 0 <= value <= 1)


def count(default: int) -> Any:
    """Declare a positive integer."""
    return parameter(default, "a positive integer", is_count)


def switch(default: bool) -> Any:
    """Declare a bool: "no" would count as true."""
    return parameter(default, "True or False", lambda value: isinstance(value, bool))
