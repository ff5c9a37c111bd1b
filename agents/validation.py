"""Checks of numeric arguments, scalar or one a trial, each raising one clear `ValueError`."""

import numpy as np

from bandit_envs.types import Bools, Floats, Ints

Numeric = float | int | Floats | Ints  # a number for all trials, or one a trial, (B,)


def require_probability(
    name: str, value: Numeric, remedy: str = "give a failure probability such as 0.1"
) -> None:
    """Raise unless every value lies strictly between 0 and 1."""
    values = np.asarray(value)
    _require((values > 0) & (values < 1), f"{name} must lie in (0, 1), got {value}; {remedy}")


def require_positive(name: str, value: Numeric, remedy: str) -> None:
    """Raise unless every value is finite and larger than 0."""
    values = np.asarray(value)
    _require((values > 0) & np.isfinite(values), f"{name} must be positive, got {value}; {remedy}")


def require_not_negative(name: str, value: Numeric, remedy: str) -> None:
    """Raise unless every value is finite and at least 0."""
    values = np.asarray(value)
    _require((values >= 0) & np.isfinite(values), f"{name} must not be negative, got {value}; {remedy}")


def require_at_least_one(name: str, value: Numeric, remedy: str) -> None:
    """Raise unless every value is finite and at least 1."""
    values = np.asarray(value)
    _require((values >= 1) & np.isfinite(values), f"{name} must be at least 1, got {value}; {remedy}")


def _require(allowed: Bools | np.bool_, message: str) -> None:
    if not np.all(allowed):
        raise ValueError(message)
