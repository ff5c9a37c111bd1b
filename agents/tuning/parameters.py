"""Whole numbers of a range, choices without an order, and every form in which a parameter may be given.

Kernels have one coordinate a choice and use rounded integers (Garrido-Merchan & Hernandez-Lobato 2020):
points that they distinguish never give the same experiment. A tuner, a search of scikit-learn and a sampler
of Optuna all convert here.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.stats.distributions import rv_frozen

from bandit_envs.basics.arguments import entry, is_integer, is_number, require
from bandit_envs.basics.types import Floats

from .continuous import LARGEST, Continuum, Linear, Log, plain, require_near, set_range, set_step, whole


@dataclass(frozen=True)
class Integer(Continuum):
    """Integer from low to high, both included; kernels use the rounded value.

    With a `step` it is low, low + step, ... alone; `log` needs 0 < low.
    """

    low: int
    high: int
    log: bool = False
    step: int = 1

    def __post_init__(self) -> None:
        for name in ("low", "high"):
            value = whole(getattr(self, name))
            usable = is_integer(value) and abs(value) <= LARGEST
            require(usable, f"{name} of an Integer", "an integer of at most 2**53 in size", value)
            object.__setattr__(self, name, value)
        set_range(self)
        require(isinstance(self.log, bool), "log of an Integer", "True or False", self.log)
        object.__setattr__(self, "step", whole(self.step))
        set_step(self, is_integer, "a positive integer")
        _ = self._scale  # checks the range

    @property
    def levels(self) -> Sequence[int]:
        """low, low + step, ..., up to high."""
        return range(self.low, self.high + 1, self.step)

    def share(self, values: Floats) -> Floats:
        return self._scale.share(values)

    def at_share(self, shares: Floats) -> Floats:
        return self._scale.at_share(shares)

    def value(self, features: Floats) -> int:
        """Return the nearest integer."""
        return int(self._nearest(np.asarray(features))[0])

    def at(self, quantile: float) -> int:
        """Return the integer at a quantile in [0, 1] of the uniform or log-uniform law."""
        half = 0.5 * self.step
        if self.step > 1 and self.log:
            half = min(half, self.low - 0.5)
        last = self.levels[-1] + half
        wide = Log(self.low - half, last) if self.log else Linear(self.low - half, last)
        value = wide.at(quantile)
        if self.step == 1:
            return min(max(math.floor(value + 0.5), self.low), self.high)
        number = math.floor((value - self.low) / self.step + 0.5)
        return self.levels[min(max(number, 0), len(self.levels) - 1)]

    def check(self, name: str, value: Any) -> Any:
        """Return an integer from low to high, or raise; 7.0 is one."""
        number = whole(value)
        allowed = is_integer(number) and number in self.levels
        steps = "" if self.step == 1 else f" in steps of {self.step}"
        require(allowed, name, f"an integer in {self.low}..{self.high}{steps}", value)
        return number

    def check_done(self, name: str, value: Any) -> Any:
        """Return the integer of an experiment that was done, also one outside the range, or raise."""
        number = whole(value)
        usable = is_integer(number) and abs(number) <= LARGEST and (number > 0 or not self.log)
        require(usable, name, "a positive integer" if self.log else "an integer", value)
        require_near(self._scale, name, number)
        return number

    @cached_property
    def _scale(self) -> Linear | Log:
        return Log(self.low, self.high) if self.log else Linear(self.low, self.high)

    def _nearest(self, shares: Floats) -> Floats:
        """Return the nearest integers, as floats; halves go to the even one, as with `round`."""
        values = self.at_share(shares)
        if self.step == 1:
            return np.rint(values).clip(self.low, self.high)
        last = len(self.levels) - 1
        return self.low + self.step * np.rint((values - self.low) / self.step).clip(0, last)


APART = math.sqrt(0.5)  # of one-hot coordinates: two categories have distance 1


@dataclass(frozen=True)
class Categorical:
    """Parameter of choices without an order; kernels have one coordinate a choice."""

    choices: Sequence[Any]

    def __post_init__(self) -> None:
        listed = isinstance(self.choices, Sequence) and not isinstance(self.choices, str)
        require(listed and len(self.choices) >= 1, "choices", "a list of at least one", self.choices)
        choices = tuple(map(plain, self.choices))
        for choice in choices:
            known = is_number(choice) or isinstance(choice, str | bool | None)
            require(known, "a choice", "text, a finite number, a boolean or None", choice)
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

    def check_done(self, name: str, value: Any) -> Any:
        """Return the choice of an experiment that was done, or raise: others have no feature."""
        return self.check(name, value)

    def allows(self, value: Any) -> bool:
        """Return True: every value is one of the choices."""
        return True


Parameter = Linear | Log | Integer | Categorical
KINDS: dict[str, Any] = {kind.__name__: kind for kind in (Linear, Log, Integer, Categorical)}
LAWS = {"uniform": Linear, "loguniform": Log, "reciprocal": Log, "randint": Integer}  # of scipy.stats
FORMS = (
    f"a range (low, high), a list of choices, one of {', '.join(KINDS)}, a uniform, loguniform or randint of "
    "scipy.stats, or a distribution of Optuna"
)
Ranges = Mapping[str, Any]  # name -> any of these forms


def as_parameter(name: str, given: Any) -> Parameter:
    """Return a parameter given as any of `FORMS`; an error calls it by this name.

    A range of two whole numbers is an `Integer`, both ends included, and any other is `Linear`.

        >>> as_parameter("x", (0.0, 1.0))
        Linear(low=0.0, high=1.0, step=None)
        >>> as_parameter("n", (1, 12))
        Integer(low=1, high=12, log=False, step=1)
    """
    if isinstance(given, Parameter):
        return given
    kind, arguments = _form_of(name, given)
    with entry(name):
        return kind(*arguments)


def _form_of(name: str, given: Any) -> tuple[Any, Sequence[Any]]:
    """Return the kind and its arguments, or raise where this is no form of a parameter."""
    if isinstance(given, tuple):
        require(len(given) == 2, name, "a range (low, high), or a list of choices", given)
        return (Integer if all(is_integer(plain(end)) for end in given) else Linear), given
    if isinstance(given, list | np.ndarray):
        return Categorical, [list(given)]
    if isinstance(given, rv_frozen):
        return _of_scipy(name, given)
    form = _of_optuna(given)
    require(form is not None, name, FORMS, given)
    assert form is not None
    return form


def _of_scipy(name: str, given: Any) -> tuple[Any, Sequence[float]]:
    law, (low, high) = given.dist.name, given.support()
    require(law in LAWS, name, FORMS, f"a {law} of scipy.stats")
    number = int if law == "randint" else float
    wide = f"a {law} with a lower and a higher end (a list of one value fixes a parameter)"
    require(low < high, name, wide, (float(low), float(high)))
    return LAWS[law], (number(low), number(high))


def _of_optuna(given: Any) -> tuple[Any, Sequence[Any]] | None:
    """Return the form of a distribution of Optuna, None for anything else."""
    optuna: Any = sys.modules.get("optuna.distributions")  # whoever has a distribution has imported it
    if optuna is None:
        return None
    if isinstance(given, optuna.CategoricalDistribution):
        return Categorical, [given.choices]
    if isinstance(given, optuna.IntDistribution):
        return Integer, (given.low, given.high, given.log, given.step)
    if isinstance(given, optuna.FloatDistribution):
        return (Log, (given.low, given.high)) if given.log else (Linear, (given.low, given.high, given.step))
    return None
