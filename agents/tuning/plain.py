"""Plain numbers, which can be saved, and the checks of a parameter's range and step."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

from bandit_envs.basics.arguments import is_number, require

LARGEST = 2**53  # up to which floats represent all integers


def plain(value: Any) -> Any:
    """Return a number of any library as a Python number, which can be saved, and other values unchanged.

    Arrays and tensors without an axis are numbers.
    """
    if isinstance(value, bool | int | float):
        return value
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        value = value.item()
    if isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Decimal):
        return float(value)
    if not isinstance(value, Real):
        return value
    return int(value) if isinstance(value, Integral) else float(value)


def whole(value: Any) -> Any:
    """Return a number without a fraction as an integer, such as 7.0, and other values unchanged."""
    number = plain(value)
    return int(number) if isinstance(number, float) and number.is_integer() else number


def set_range(parameter: Any) -> None:
    """Set low and high to plain numbers, or raise."""
    low, high = plain(parameter.low), plain(parameter.high)
    ordered = is_number(low) and is_number(high) and low <= high
    require(ordered, "low and high of a parameter", "finite numbers with low <= high", (low, high))
    object.__setattr__(parameter, "low", low)
    object.__setattr__(parameter, "high", high)


def set_step(parameter: Any, is_kind: Callable[[Any], bool], what: str) -> None:
    """Set the step to a plain number, of a kind that an error describes by `what`, or raise."""
    step, kind, span = plain(parameter.step), type(parameter).__name__, parameter.high - parameter.low
    require(is_kind(step) and step > 0, f"step of a {kind}", what, step)
    fits = span / step <= LARGEST and (step <= span or step == 1 or not span)
    require(fits, f"step of a {kind}", "at most high - low, and not less than 2**-53 of it", step)
    object.__setattr__(parameter, "step", step)
