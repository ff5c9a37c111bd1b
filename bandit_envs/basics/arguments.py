"""Checks of arguments, each raising one clear `ValueError`."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

import numpy as np


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
