"""Plain numbers, and numbers of a range, on a linear or logarithmic scale, with steps or without.

Kernels use the values that will be run, relative to their bounds.
"""

from __future__ import annotations

import abc
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

import numpy as np

from bandit_envs.basics.arguments import is_number, require
from bandit_envs.basics.types import Floats

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


SLACK = 1e-9  # of the range: tolerance for values outside it by rounding
FARTHEST = 1e6  # ranges beyond which a result is too far away to be learnt from


class Continuum(abc.ABC):
    """Base of numbers of a range that need not be whole, with steps or without, whatever their scale.

    A number's share is its place on the scale, low at 0 and high at 1; results from outside have others.
    """

    low: Any
    high: Any
    step: Any = None
    width = 1

    @abc.abstractmethod
    def share(self, values: Floats) -> Floats:
        """Return the shares of numbers."""

    @abc.abstractmethod
    def at_share(self, shares: Floats) -> Floats:
        """Return the inverse of `share`."""

    @property
    def fixed(self) -> bool:
        """True where low and high are equal; the only share is then 0."""
        return self.low == self.high

    @property
    def levels(self) -> Sequence[float] | None:
        """All values, where there are steps or low and high are equal; None on a continuum."""
        if self.fixed:
            return (self.low,)
        return None if self.step is None else Steps(self.low, self.high, self.step)

    def features(self, value: float) -> Floats:
        """Return the share of the value, which of one in the range is in [0, 1] in spite of rounding."""
        share = float(self.share(np.array([value]))[0])
        inside = min(max(share, 0.0), 1.0)
        return np.array([inside if abs(share - inside) <= 2 * SLACK else share])

    def at(self, quantile: float) -> float:
        """Return the value at a quantile in [0, 1]."""
        levels = self.levels
        if levels is not None:
            return levels[min(int(quantile * len(levels)), len(levels) - 1)]
        value = float(self.at_share(np.array([quantile]))[0])
        return min(max(value, self.low), self.high)

    def value(self, features: Floats) -> float:
        """Return the nearest possible value."""
        return float(self._nearest(features)[0])

    def snap(self, features: Floats) -> Floats:
        """Return features of the nearest possible values, (n, 1)."""
        if self.levels is None:
            return features.clip(0.0, 1.0)
        return self.share(self._nearest(features[:, 0]))[:, None].clip(0.0, 1.0)

    def check(self, name: str, value: Any) -> Any:
        """Return a number in [low, high], or raise; between steps it is none."""
        number = plain(value)
        inside = is_number(number) and self.allows(number)
        require(inside, name, f"a number in [{self.low:g}, {self.high:g}]", value)
        if self.step is None:
            return number
        nearest = float(self._nearest(self.share(np.array([number], dtype=np.float64)))[0])
        on_step = abs(number - nearest) <= SLACK * (self.high - self.low)
        require(on_step, name, f"{self.low:g} and a multiple of the step {self.step:g}", value)
        return nearest

    def check_done(self, name: str, value: Any) -> Any:
        """Return the number of an experiment that was done, also one outside the range, or raise."""
        number = plain(value)
        require(is_number(number), name, "a finite number", value)
        require_near(self, name, number)
        return number

    def allows(self, value: Any) -> bool:
        """Return True if a number lies in the range."""
        slack = SLACK * (self.high - self.low)
        return self.low - slack <= value <= self.high + slack

    def _nearest(self, shares: Floats) -> Floats:
        values = self.at_share(np.asarray(shares, dtype=np.float64).clip(0.0, 1.0)).clip(self.low, self.high)
        if self.step is None or self.fixed:
            return values
        number = np.rint((values - self.low) / self.step).clip(0, len(self.levels or ()) - 1)
        return np.minimum(self.low + number * self.step, self.high)


class Steps(Sequence[float]):
    """The values low, low + step, ... up to high."""

    def __init__(self, low: float, high: float, step: float):
        self._low, self._high, self._step = float(low), float(high), float(step)
        self._size = 1 + math.floor((high - low) / step + SLACK)

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return [self[each] for each in range(*i.indices(self._size))]
        if not -self._size <= i < self._size:
            raise IndexError(i)
        return min(self._low + i % self._size * self._step, self._high)


@dataclass(frozen=True)
class Linear(Continuum):
    """Number in [low, high], both finite, on a linear scale; with a `step` low, low + step, ... alone."""

    low: float
    high: float
    step: float | None = None

    def __post_init__(self) -> None:
        set_range(self)
        require(math.isfinite(self.high - self.low), "high - low of a Linear", "finite", self.high)
        if self.step is not None:
            set_step(self, is_number, "None or a positive number")

    def share(self, values: Floats) -> Floats:
        """Return (value - low) / (high - low)."""
        return (values - self.low) / ((self.high - self.low) or 1.0)

    def at_share(self, shares: Floats) -> Floats:
        return self.low + (self.high - self.low) * shares


@dataclass(frozen=True)
class Log(Continuum):
    """Positive number in [low, high], both finite, on a logarithmic scale."""

    low: float
    high: float

    def __post_init__(self) -> None:
        set_range(self)
        require(self.low > 0, "low of a Log", "positive", self.low)
        ratio = self.high / self.low
        require(math.isfinite(ratio), "high / low of a Log", "at most 300 decades", (self.low, self.high))

    def share(self, values: Floats) -> Floats:
        """Return log(value / low) / log(high / low)."""
        return _logs(values / self.low) / (math.log(self.high / self.low) or 1.0)

    def at_share(self, shares: Floats) -> Floats:
        return self.low * _powers(self.high / self.low, shares)

    def check_done(self, name: str, value: Any) -> Any:
        number = plain(value)
        require(is_number(number) and number > 0, name, "a positive number", value)
        return super().check_done(name, number)


def require_near(scale: Continuum, name: str, number: float) -> None:
    """Raise where a result is so far outside the range that distances to it have no meaning."""
    remedy = (
        f"{scale.low:g}, its only value; keep its range, and ask with only=[...] for what is possible now"
    )
    require(not scale.fixed or number == scale.low, name, remedy, number)
    share = float(scale.share(np.array([number], dtype=np.float64))[0])
    words = f"within {FARTHEST:g} ranges of [{scale.low:g}, {scale.high:g}]"
    require(abs(share) <= FARTHEST, name, words, number)


def _logs(ratios: Floats) -> Floats:
    """Return logarithms as `math` computes them, which numpy's may differ from in the last bit."""
    values, row = np.unique(ratios, return_inverse=True)
    return np.array([math.log(each) for each in values.tolist()])[row].reshape(ratios.shape)


def _powers(base: float, exponents: Floats) -> Floats:
    """Return powers as Python computes them, which numpy's may differ from in the last bit."""
    return np.array([base**each for each in exponents.ravel().tolist()]).reshape(exponents.shape)
