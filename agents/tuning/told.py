"""Validation of the value of an experiment."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bandit_envs.basics.arguments import require

TELL = "of an experiment that failed call fail(ticket), or drop(ticket) where its parameters are not to blame"
ADD = "an experiment without one is left out"


def as_number(value: Any) -> float | None:
    """Return a number of any library as a float, which may be infinite or NaN; None for other objects."""
    if isinstance(value, str | bytes | bool | np.bool_ | complex) or getattr(value, "ndim", 0):
        return None
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def checked_value(value: Any, remedy: str) -> float:
    """Return the value as a float, or raise a ValueError with a remedy."""
    number = as_number(value)
    require(number is not None and math.isfinite(number), "value", f"a finite number; {remedy}", value)
    return float(value)
