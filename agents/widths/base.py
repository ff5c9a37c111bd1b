"""The width of a confidence band, and formulas of one number a trial.

Of one trial they are computed with numbers, not with arrays of one entry: the operations are the same in the
same order, and take a sixth of the time.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from typing import Any, Protocol, runtime_checkable

import numpy as np

from bandit_envs.basics.types import Floats, Ints

BOUND_REMEDY = "it bounds the RKHS norm of the mean reward"
NOISE_REMEDY = "it bounds the sub-Gaussian noise"
MODEL_REMEDY = "it is the noise variance lambda that the model assumes"
NUMBER = float, int


@runtime_checkable
class Width(Protocol):
    """Function that gives the half-width of the confidence band in posterior stds."""

    def __call__(self, t: Ints, gain: Floats) -> Floats:
        """Return w_t of round t = 1, 2, ... given the gain g_{t-1} before the round, (B,) each -> (B,)."""
        ...


def elementwise(formula: Callable[..., Any]) -> Callable[..., Floats]:
    """Decorate a method that is a formula of one array, (B,) -> (B,), with this module's functions."""

    @wraps(formula)
    def values(self: Any, given: Floats | Ints, *others: Any) -> Floats:
        if len(given) > 1:
            return formula(self, given, *others)
        return np.array(formula(self, given.item(), *others), ndmin=1)  # a parameter may have shape (1,)

    return values


def log(value: Any) -> Any:
    """Return the natural logarithm of a number or of each entry."""
    return math.log(value) if isinstance(value, NUMBER) else np.log(value)


def sqrt(value: Any) -> Any:
    """Return the square root of a number or of each entry."""
    return math.sqrt(value) if isinstance(value, float) else np.sqrt(value)
