"""Validation of agents' inputs: numbers for all trials or one a trial, and feedback that fits the setting."""

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np

from bandit_envs.basics.arguments import ArgumentError, is_count, require, require_seed, require_size, shown
from bandit_envs.basics.types import Floats, Ints

ONE_A_TRIAL = "one a trial"  # marks `PerTrial` among annotations
PerTrial = Annotated[float | int | Floats | Ints, ONE_A_TRIAL]  # a number for all trials, or one each, (B,)


def require_trials(num_trials: int | None) -> None:
    """Raise unless num_trials is a positive integer, or None for a single trial without a trial axis."""
    whole = num_trials is None or is_count(num_trials)
    require(whole, "num_trials", "None or a positive integer", num_trials)
    require_size("num_trials", num_trials or 1)


def require_one_a_trial(name: str, value: Any, num_trials: int) -> None:
    """Raise unless the value is a number, or an array of one number a trial, (B,)."""
    expected = f"a number or {num_trials} of them, one a trial"
    if np.shape(value) not in ((), (num_trials,)):
        raise ArgumentError(name, f"must be {expected}, got an array of shape {np.shape(value)}")


def require_known(name: str, given: Any, published: Any, task: str, remedy: str) -> Any:
    """Return the given option or, if that is None, the published one; raise where both are None."""
    known = published if given is None else given
    if known is None:
        raise ArgumentError(name, f"must be known {task}, got None; {remedy}")
    return known


def require_costs(cost: Floats, num_constraints: int) -> None:
    """Raise unless feedback has as many costs, (n, C), as the setting has constraints."""
    if cost.shape[1] != num_constraints:
        expected = f"{num_constraints} cost(s)"
        raise ValueError(
            f'info["feedback_cost"] must have {expected} a slot, got {cost.shape[1]}; '
            "play the environment whose setting the agent was made for"
        )


def seeds_of(seed: Any, num_trials: int | None) -> list[int]:
    """Return the seeds of an agent's trials, one or B; raise a ValueError if their number differs."""
    if num_trials is None:
        return [one_seed(seed)]
    listed = isinstance(seed, Sequence | np.ndarray) and not isinstance(seed, str)
    if not listed or len(seed) != num_trials:
        given = len(seed) if listed else shown(seed)
        raise ArgumentError("seed", f"must be {num_trials} integers, one a trial; got {given}")
    return list(map(one_seed, seed))


def one_seed(seed: Any) -> int:
    """Return the seed of one trial; raise unless it is an integer of at least 0."""
    require_seed("seed", seed)
    return int(seed)


def require_context(observation: Any, several: bool) -> None:
    """Raise where a recommendation needs a context and none is given."""
    if several and observation is None:
        raise ValueError("recommend needs the observation of a context, got None")


def require_reset(done: bool) -> None:
    """Raise unless the agent has been reset once."""
    if not done:
        raise RuntimeError("the agent was asked before its first reset; call reset(seed) first")
