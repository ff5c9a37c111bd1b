"""Kinds of parameters: numbers on a linear or logarithmic scale, whole numbers, and choices.

Kernels use the values that will be run, relative to their bounds, with one coordinate a category
(Garrido-Merchan & Hernandez-Lobato 2020): points that they distinguish never give the same experiment.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral, Real
from typing import Any

import numpy as np

from bandit_envs.basics.arguments import is_integer, is_number, require
from bandit_envs.basics.types import Floats

SLACK = 1e-9  # of the range: tolerance for values outside it by rounding
LARGEST = 2**53  # up to which floats represent all integers


class Continuum:
    """Base of all numbers of a range, whatever their scale."""

    low: float
    high: float
    width = 1
    levels = None

    def at(self, quantile: float) -> float:
        """Return the value at a quantile in [0, 1]."""
        raise NotImplementedError

    def value(self, features: Floats) -> float:
        """Return the inverse of `features`."""
        return self.at(float(features[0]))

    def snap(self, features: Floats) -> Floats:
        """Return the features unchanged: every value is possible."""
        return features

    def check(self, name: str, value: Any) -> Any:
        """Return a number in [low, high], or raise."""
        slack = SLACK * (self.high - self.low)
        inside = is_number(value) and self.low - slack <= value <= self.high + slack
        require(inside, name, f"a number in [{self.low:g}, {self.high:g}]", value)
        return plain(value)


@dataclass(frozen=True)
class Linear(Continuum):
    """Number in [low, high], both finite, on a linear scale."""

    low: float
    high: float

    def __post_init__(self) -> None:
        _set_range(self)
        require(math.isfinite(self.high - self.low), "high - low of a Linear", "finite", self.high)

    def features(self, value: float) -> Floats:
        """Return (value - low) / (high - low)."""
        return np.array([min(max((value - self.low) / (self.high - self.low), 0.0), 1.0)])

    def at(self, quantile: float) -> float:
        return min(max(self.low + (self.high - self.low) * quantile, self.low), self.high)


@dataclass(frozen=True)
class Log(Continuum):
    """Positive number in [low, high], both finite, on a logarithmic scale."""

    low: float
    high: float

    def __post_init__(self) -> None:
        _set_range(self)
        require(self.low > 0, "low of a Log", "positive", self.low)
        ratio = self.high / self.low
        require(math.isfinite(ratio), "high / low of a Log", "at most 300 decades", (self.low, self.high))

    def features(self, value: float) -> Floats:
        """Return log(value / low) / log(high / low)."""
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return np.array([min(max(share, 0.0), 1.0)])

    def at(self, quantile: float) -> float:
        return min(max(self.low * (self.high / self.low) ** quantile, self.low), self.high)


@dataclass(frozen=True)
class Integer:
    """Integer from low to high, both included; kernels use the rounded value. `log` needs 0 < low."""

    low: int
    high: int
    log: bool = False
    width = 1

    def __post_init__(self) -> None:
        for name in ("low", "high"):
            value = getattr(self, name)
            usable = is_integer(value) and abs(value) <= LARGEST
            require(usable, f"{name} of an Integer", "an integer of at most 2**53 in size", value)
        _set_range(self)
        require(isinstance(self.log, bool), "log of an Integer", "True or False", self.log)
        _ = self._scale  # checks the range

    @property
    def levels(self) -> Sequence[int]:
        """low, low + 1, ..., high."""
        return range(self.low, self.high + 1)

    def features(self, value: int) -> Floats:
        """Return the integer's position on its scale, low at 0 and high at 1."""
        return self._scale.features(value)

    def value(self, features: Floats) -> int:
        """Return the nearest integer."""
        return self._inside(round(self._scale.value(features)))

    def snap(self, features: Floats) -> Floats:
        """Return features of the nearest integers, (n, 1)."""
        values, row = np.unique([self.value(each) for each in features], return_inverse=True)
        return np.array([self.features(value) for value in values.tolist()]).reshape(-1, 1)[row]

    def at(self, quantile: float) -> int:
        """Return the integer at a quantile in [0, 1] of the uniform or log-uniform law."""
        wide = Log(self.low - 0.5, self.high + 0.5) if self.log else Linear(self.low - 0.5, self.high + 0.5)
        return self._inside(math.floor(wide.at(quantile) + 0.5))

    def check(self, name: str, value: Any) -> Any:
        """Return an integer from low to high, or raise."""
        allowed = is_integer(value) and self.low <= value <= self.high
        require(allowed, name, f"an integer in {self.low}..{self.high}", value)
        return plain(value)

    @cached_property
    def _scale(self) -> Linear | Log:
        return Log(self.low, self.high) if self.log else Linear(self.low, self.high)

    def _inside(self, value: int) -> int:
        return min(max(value, int(self.low)), int(self.high))


def plain(value: Any) -> Any:
    """Return a number of any library as a Python number, which can be saved, and other values unchanged."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, bool | int | float) or not isinstance(value, Real):
        return value
    return int(value) if isinstance(value, Integral) else float(value)


def _set_range(parameter: Any) -> None:
    low, high = plain(parameter.low), plain(parameter.high)
    ordered = is_number(low) and is_number(high) and low < high
    require(ordered, "low and high of a parameter", "finite numbers with low < high", (low, high))
    object.__setattr__(parameter, "low", low)
    object.__setattr__(parameter, "high", high)


APART = math.sqrt(0.5)  # of one-hot coordinates: two categories have distance 1


@dataclass(frozen=True)
class Categorical:
    """Parameter with at least two choices without an order; kernels have one coordinate a choice."""

    choices: Sequence[Any]

    def __post_init__(self) -> None:
        listed = isinstance(self.choices, Sequence) and not isinstance(self.choices, str)
        require(listed and len(self.choices) >= 2, "choices", "a list of at least two", self.choices)
        for choice in self.choices:
            known = is_number(choice) or isinstance(choice, str | bool | None)
            require(known, "a choice", "text, a finite number, a boolean or None", choice)
        choices = tuple(map(plain, self.choices))
        different = len(set(choices)) == len(choices)
        require(different, "choices", "different from each other (1, 1.0 and True are equal)", self.choices)
        object.__setattr__(self, "choices", choices)

    @property
    def width(self) -> int:
        """Number of choices."""
        return len(self.choices)

    @property
    def levels(self) -> Sequence[Any]:
        """The choices."""
        return self.choices

    def features(self, value: Any) -> Floats:
        """Return sqrt(1/2) at the choice's coordinate, 0 elsewhere."""
        features = np.zeros(self.width)
        features[self.choices.index(value)] = APART
        return features

    def value(self, features: Floats) -> Any:
        """Return the choice of the largest coordinate."""
        return self.choices[int(np.argmax(features))]

    def snap(self, features: Floats) -> Floats:
        """Return features of the choices of the largest coordinates, (n, width)."""
        return APART * np.eye(self.width)[features.argmax(axis=1)]

    def at(self, quantile: float) -> Any:
        """Return the choice at a quantile in [0, 1] of the uniform law."""
        return self.choices[min(int(quantile * self.width), self.width - 1)]

    def check(self, name: str, value: Any) -> Any:
        """Return one of the choices, or raise."""
        choice = plain(value)
        known = isinstance(choice, Hashable) and choice in self.choices
        require(known, name, f"one of {', '.join(map(repr, self.choices))}", value)
        return self.choices[self.choices.index(choice)]


Parameter = Linear | Log | Integer | Categorical
KINDS: dict[str, Any] = {kind.__name__: kind for kind in (Linear, Log, Integer, Categorical)}
