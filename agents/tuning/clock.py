"""The time of an experiment as a context, for functions that drift."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bandit_envs.basics.arguments import is_number, require
from bandit_envs.basics.types import Floats

from .numeric import plain

TIME = "time"  # the name of this context


@dataclass(frozen=True)
class Time:
    """Start of an experiment, in any unit; it may be before 0 and after the span.

    Args:
        span: approximate duration of all experiments together: the unit of the kernel.
    """

    span: float
    width = 1
    levels = None

    def __post_init__(self) -> None:
        usable = is_number(self.span) and self.span > 0
        require(usable, "clock", "a positive time: about how long all experiments take together", self.span)
        object.__setattr__(self, "span", plain(self.span))

    def features(self, value: float) -> Floats:
        """Return time / span."""
        return np.array([value / self.span])

    def value(self, features: Floats) -> float:
        """Return the inverse of `features`."""
        return float(features[0]) * self.span

    def snap(self, features: Floats) -> Floats:
        """Return the features unchanged: every time is possible."""
        return features

    def at(self, quantile: float) -> float:
        """Return the time at which this share of the span is over."""
        return quantile * self.span

    def check(self, name: str, value: Any) -> Any:
        """Return a finite number, or raise."""
        require(is_number(value), name, "a finite number, in the unit of the clock", value)
        return plain(value)


def with_clock(contexts: Any, clock: float | None) -> Any:
    """Return the contexts, with the time where there is a clock."""
    if clock is None or not isinstance(contexts, Mapping):
        return contexts
    require(TIME not in contexts, "contexts", f"without {TIME!r} where there is a clock", contexts)
    return {**contexts, TIME: Time(clock)}


def without_time(context: Mapping[str, Any]) -> dict[str, Any]:
    """Return a context without its time."""
    return {name: value for name, value in context.items() if name != TIME}
