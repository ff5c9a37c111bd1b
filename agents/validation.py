"""Checks of numeric arguments, scalar or one a trial, each raising one clear `ValueError`."""

from collections.abc import Callable
from typing import Annotated, Any

import numpy as np

from bandit_envs.basics.arguments import is_count, is_integer
from bandit_envs.basics.types import Bools, Floats, Ints

ONE_A_TRIAL = "one a trial"  # what marks `PerTrial` among annotations
PerTrial = Annotated[float | int | Floats | Ints, ONE_A_TRIAL]  # a number for all trials, or one each, (B,)


def require_probability(
    name: str, value: PerTrial, remedy: str = "give a failure probability such as 0.1"
) -> None:
    """Raise unless every value lies strictly between 0 and 1."""
    message = f"{name} must lie in (0, 1), got {value}; {remedy}"
    _require(value, lambda values: (values > 0) & (values < 1), message)


def require_positive(name: str, value: PerTrial, remedy: str) -> None:
    """Raise unless every value is finite and larger than 0."""
    message = f"{name} must be positive, got {value}; {remedy}"
    _require(value, lambda values: (values > 0) & np.isfinite(values), message)


def require_not_negative(name: str, value: PerTrial, remedy: str) -> None:
    """Raise unless every value is finite and at least 0."""
    message = f"{name} must not be negative, got {value}; {remedy}"
    _require(value, lambda values: (values >= 0) & np.isfinite(values), message)


def require_at_least_one(name: str, value: PerTrial, remedy: str) -> None:
    """Raise unless every value is finite and at least 1."""
    message = f"{name} must be at least 1, got {value}; {remedy}"
    _require(value, lambda values: (values >= 1) & np.isfinite(values), message)


def require_share(name: str, value: PerTrial, remedy: str) -> None:
    """Raise unless every value lies in [0, 1]."""
    message = f"{name} must lie in [0, 1], got {value}; {remedy}"
    _require(value, lambda values: (values >= 0) & (values <= 1), message)


def require_integer(name: str, value: Any, least: int, remedy: str) -> None:
    """Raise unless it is an integer of at least `least`; 2.5 and True are none."""
    if not is_integer(value) or value < least:
        raise ValueError(f"{name} must be an integer of at least {least}, got {value!r}; {remedy}")


def require_trials(num_trials: int | None) -> None:
    """Raise unless it is a number of trials, or None for one environment without a trial axis."""
    if num_trials is not None and not is_count(num_trials):
        raise ValueError(f"num_trials must be None or a positive integer, got {num_trials!r}")


def _require(value: PerTrial, allowed: Callable[[Floats], Bools], message: str) -> None:
    values = np.asarray(value)
    if values.dtype.kind not in "iuf" or not np.all(allowed(values)):  # text cannot be compared
        raise ValueError(message)


def require_costs(cost: Floats, num_constraints: int) -> None:
    """Raise unless feedback has as many costs, (n, C), as the setting has constraints."""
    if cost.shape[1] != num_constraints:
        expected = f"{num_constraints} cost(s)"
        raise ValueError(
            f'info["feedback_cost"] must have {expected} a slot, got {cost.shape[1]}; '
            "play the environment whose setting the agent was made for"
        )


def require_context(observation: Any, several: bool) -> None:
    """Raise where a recommendation is asked for without saying in which of several contexts."""
    if several and observation is None:
        raise ValueError("recommend needs the observation of a context, got None")


def require_reset(done: bool) -> None:
    """Raise unless the agent has been reset once."""
    if not done:
        raise RuntimeError("the agent was asked before its first reset; call reset(seed) first")
