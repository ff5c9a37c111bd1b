"""What counts as the value of an experiment."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bandit_envs.basics.arguments import require

TELL = "of an experiment that failed call fail(ticket), or drop(ticket) where its parameters are not to blame"
ADD = "an experiment without one is left out"


def as_number(value: Any) -> float | None:
    """A number of any library as a float, which may be infinite or NaN; None of what is none."""
    if isinstance(value, str | bytes | bool | np.bool_ | complex) or getattr(value, "ndim", 0):
        return None
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def checked_value(value: Any, remedy: str) -> float:
    """The value as a float, or a ValueError that says what to do."""
    number = as_number(value)
    require(number is not None and math.isfinite(number), "value", f"a finite number; {remedy}", value)
    return float(value)
