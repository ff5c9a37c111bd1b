"""Checks of arguments, each raising one clear `ValueError`."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints

Numbers = float | int | Floats | Ints  # one, or an array of them


def require(condition: Any, argument: str, expected: str, given: Any) -> None:
    """Raise a ValueError that names the argument, what it must be and what it was."""
    if not condition:
        raise ValueError(f"{argument} must be {expected}, got {given!r}")


def is_number(value: Any) -> bool:
    """Whether a value is a finite real number; True is not one."""
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_) and math.isfinite(value)


def is_integer(value: Any) -> bool:
    """Whether a value is an integer; 3.0 and True are not."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_count(value: Any) -> bool:
    """Whether a value is a positive integer."""
    return is_integer(value) and int(value) > 0


def require_probability(
    name: str, value: Numbers, remedy: str = "give a failure probability such as 0.1"
) -> None:
    """Raise unless every value lies strictly between 0 and 1."""
    message = f"{name} must lie in (0, 1), got {value}; {remedy}"
    _require(value, lambda values: (values > 0) & (values < 1), message)


def require_positive(name: str, value: Numbers, remedy: str) -> None:
    """Raise unless every value is finite and larger than 0."""
    message = f"{name} must be positive, got {value}; {remedy}"
    _require(value, lambda values: (values > 0) & np.isfinite(values), message)


def require_not_negative(name: str, value: Numbers, remedy: str) -> None:
    """Raise unless every value is finite and at least 0."""
    message = f"{name} must not be negative, got {value}; {remedy}"
    _require(value, lambda values: (values >= 0) & np.isfinite(values), message)


def require_at_least_one(name: str, value: Numbers, remedy: str) -> None:
    """Raise unless every value is finite and at least 1."""
    message = f"{name} must be at least 1, got {value}; {remedy}"
    _require(value, lambda values: (values >= 1) & np.isfinite(values), message)


def require_share(name: str, value: Numbers, remedy: str) -> None:
    """Raise unless every value lies in [0, 1]."""
    message = f"{name} must lie in [0, 1], got {value}; {remedy}"
    _require(value, lambda values: (values >= 0) & (values <= 1), message)


def require_integer(name: str, value: Any, least: int, remedy: str) -> None:
    """Raise unless it is an integer of at least `least`; 2.5 and True are none."""
    if not is_integer(value) or value < least:
        raise ValueError(f"{name} must be an integer of at least {least}, got {value!r}; {remedy}")


def _require(value: Numbers, allowed: Callable[[Floats], Bools], message: str) -> None:
    values = np.asarray(value)
    if values.dtype.kind not in "iuf" or not np.all(allowed(values)):  # text cannot be compared
        raise ValueError(message)
