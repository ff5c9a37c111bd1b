"""Kinds of parameters, and how a value of each becomes features of a kernel.

Kernels see what will be used: the rounded integer, one coordinate a category (Garrido-Merchan &
Hernandez-Lobato 2020). So a function of the parameters has no steps inside what a kernel takes for two
points.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from bandit_envs.laws.parse import is_integer, is_number, require
from bandit_envs.types import Floats

APART = math.sqrt(0.5)  # of one-hot coordinates: two categories are a distance of 1 apart
SLACK = 1e-9  # of the range: how far rounding may carry a value out of it


class Parameter(Protocol):
    """One quantity to be chosen."""

    @property
    def width(self) -> int:
        """Number of features."""
        ...

    @property
    def levels(self) -> Sequence[Any] | None:
        """All values in order, None where there is a continuum of them."""
        ...

    def features(self, value: Any) -> Floats:
        """Features of a value in [0, 1], (width,)."""
        ...

    def value(self, features: Floats) -> Any:
        """The value whose features are nearest, (width,)."""
        ...

    def snap(self, features: Floats) -> Floats:
        """Features of the values nearest to some in [0, 1], (n, width)."""
        ...

    def at(self, quantile: float) -> Any:
        """The value at a quantile in [0, 1] of its uniform law."""
        ...

    def check(self, name: str, value: Any) -> None:
        """Raise a ValueError unless the parameter can take the value."""
        ...


@dataclass(frozen=True)
class Linear:
    """A number in [low, high], uniformly relevant.

    Args:
        low, high: finite, low < high.
    """

    low: float
    high: float
    width = 1
    levels = None

    def __post_init__(self) -> None:
        _require_range(self.low, self.high)

    def features(self, value: float) -> Floats:
        """(value - low) / (high - low)."""
        return np.array([np.clip((value - self.low) / (self.high - self.low), 0.0, 1.0)])

    def value(self, features: Floats) -> float:
        """The inverse of `features`."""
        return self.at(float(features[0]))

    def snap(self, features: Floats) -> Floats:
        """The same: every value is possible."""
        return features

    def at(self, quantile: float) -> float:
        """The value at a quantile in [0, 1]."""
        return min(max(self.low + (self.high - self.low) * quantile, self.low), self.high)

    def check(self, name: str, value: Any) -> None:
        """Raise unless it is a number in [low, high]."""
        _require_inside(name, value, self.low, self.high)


@dataclass(frozen=True)
class Log:
    """A positive number in [low, high] of which the order of magnitude matters.

    Args:
        low, high: finite, 0 < low < high.
    """

    low: float
    high: float
    width = 1
    levels = None

    def __post_init__(self) -> None:
        _require_range(self.low, self.high)
        require(self.low > 0, "low of a Log", "positive", self.low)

    def features(self, value: float) -> Floats:
        """log(value / low) / log(high / low)."""
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return np.array([np.clip(share, 0.0, 1.0)])

    def value(self, features: Floats) -> float:
        """The inverse of `features`."""
        return self.at(float(features[0]))

    def snap(self, features: Floats) -> Floats:
        """The same: every value is possible."""
        return features

    def at(self, quantile: float) -> float:
        """The value at a quantile in [0, 1] of the log-uniform law."""
        return min(max(self.low * (self.high / self.low) ** quantile, self.low), self.high)

    def check(self, name: str, value: Any) -> None:
        """Raise unless it is a number in [low, high]."""
        _require_inside(name, value, self.low, self.high)


@dataclass(frozen=True)
class Integer:
    """A whole number from low to high, both included; kernels see the rounded one.

    Args:
        low, high: integers, low < high.
        log: whether the order of magnitude matters; then 0 < low.
    """

    low: int
    high: int
    log: bool = False
    width = 1

    def __post_init__(self) -> None:
        for name in ("low", "high"):
            require(
                is_integer(getattr(self, name)), f"{name} of an Integer", "an integer", getattr(self, name)
            )
        require(isinstance(self.log, bool), "log of an Integer", "True or False", self.log)
        self._scale()  # checks the range

    @property
    def levels(self) -> Sequence[int]:
        """low, low + 1, ..., high."""
        return range(self.low, self.high + 1)

    def features(self, value: int) -> Floats:
        """Those of the number on a linear or a logarithmic scale, low at 0 and high at 1."""
        return self._scale().features(value)

    def value(self, features: Floats) -> int:
        """The nearest integer."""
        return self._inside(round(self._scale().value(features)))

    def snap(self, features: Floats) -> Floats:
        """Features of the nearest integers, (n, 1)."""
        return np.array([self.features(self.value(row)) for row in features]).reshape(-1, 1)

    def at(self, quantile: float) -> int:
        """The value at a quantile in [0, 1]: all are as likely, on the logarithmic scale by their share."""
        wide = Log(self.low - 0.5, self.high + 0.5) if self.log else Linear(self.low - 0.5, self.high + 0.5)
        return self._inside(math.floor(wide.at(quantile) + 0.5))

    def check(self, name: str, value: Any) -> None:
        """Raise unless it is an integer from low to high."""
        allowed = is_integer(value) and self.low <= value <= self.high
        require(allowed, name, f"an integer in {self.low}..{self.high}", value)

    def _scale(self) -> Linear | Log:
        return Log(self.low, self.high) if self.log else Linear(self.low, self.high)

    def _inside(self, value: int) -> int:
        return min(max(value, int(self.low)), int(self.high))


@dataclass(frozen=True)
class Categorical:
    """One of several choices without an order; kernels see one coordinate a choice.

    Args:
        choices: different texts, numbers, booleans or None; at least two.
    """

    choices: Sequence[Any]

    def __post_init__(self) -> None:
        listed = isinstance(self.choices, Sequence) and not isinstance(self.choices, str)
        require(listed and len(self.choices) >= 2, "choices", "a list of at least two", self.choices)
        for choice in self.choices:
            known = is_number(choice) or isinstance(choice, str | bool | None)
            require(known, "a choice", "text, a finite number, a boolean or None", choice)
        different = len(set(self.choices)) == len(self.choices)
        require(different, "choices", "different from each other (1, 1.0 and True are equal)", self.choices)
        object.__setattr__(self, "choices", tuple(self.choices))

    @property
    def width(self) -> int:
        """Number of choices."""
        return len(self.choices)

    @property
    def levels(self) -> Sequence[Any]:
        """The choices."""
        return self.choices

    def features(self, value: Any) -> Floats:
        """sqrt(1/2) at the choice's place, 0 elsewhere."""
        features = np.zeros(self.width)
        features[self.choices.index(value)] = APART
        return features

    def value(self, features: Floats) -> Any:
        """The choice of the largest coordinate."""
        return self.choices[int(np.argmax(features))]

    def snap(self, features: Floats) -> Floats:
        """Features of the choices of the largest coordinates, (n, width)."""
        return APART * np.eye(self.width)[features.argmax(axis=1)]

    def at(self, quantile: float) -> Any:
        """The choice at a quantile in [0, 1]; all are as likely."""
        return self.choices[min(int(quantile * self.width), self.width - 1)]

    def check(self, name: str, value: Any) -> None:
        """Raise unless it is one of the choices."""
        known = isinstance(value, Hashable) and value in self.choices
        require(known, name, f"one of {', '.join(map(repr, self.choices))}", value)


KINDS: dict[str, Any] = {kind.__name__: kind for kind in (Linear, Log, Integer, Categorical)}


def _require_range(low: float, high: float) -> None:
    ordered = is_number(low) and is_number(high) and low < high
    require(ordered, "low and high of a parameter", "finite numbers with low < high", (low, high))


def _require_inside(name: str, value: Any, low: float, high: float) -> None:
    slack = SLACK * (high - low)
    inside = is_number(value) and low - slack <= value <= high + slack
    require(inside, name, f"a number in [{low:g}, {high:g}]", value)
