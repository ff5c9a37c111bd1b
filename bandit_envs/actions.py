"""Actions at the boundary: coerced, checked, and never silently repaired."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from bandit_envs.decisions import Decisions
from bandit_envs.setting import SLACK
from bandit_envs.types import Floats, Ints


def action_space(decisions: Decisions) -> spaces.Space:
    """`Discrete(A)`, or `Box(-1, 1, (d,))`."""
    if decisions.continuous:
        return spaces.Box(-1.0, 1.0, (decisions.arms.shape[1],), np.float32)
    return spaces.Discrete(decisions.num_arms)


def checked_actions(actions: Any, count: int, decisions: Decisions) -> Ints | Floats:
    """Return the actions of `count` trials as arrays, (n,) arms or (n, d) in [-1, 1], or raise ValueError."""
    array = np.asarray(actions)
    return _box(array, count, decisions) if decisions.continuous else _arms(array, count, decisions.num_arms)


def _arms(array: np.ndarray, count: int, num_arms: int) -> Ints:
    if array.shape != (count,) or array.dtype.kind not in "iu":
        given = f"{array} ({array.dtype}, shape {array.shape})"
        raise ValueError(
            f"action must be one integer arm in 0..{num_arms - 1} a trial, ({count},), got {given}"
        )
    if array.min() < 0 or array.max() >= num_arms:
        raise ValueError(f"action must be an arm in 0..{num_arms - 1}, got {array}")
    return array.astype(np.int64, copy=False)


def _box(array: np.ndarray, count: int, decisions: Decisions) -> Floats:
    shape = (count, decisions.arms.shape[1])
    if array.shape != shape or array.dtype.kind not in "fiu":
        raise ValueError(
            f"action must be {shape} numbers in [-1, 1], got {array.dtype} of shape {array.shape}"
        )
    array = array.astype(np.float64)
    if not np.isfinite(array).all() or np.abs(array).max() > 1.0 + SLACK:
        raise ValueError(f"action must be finite and in [-1, 1], got {array}; see setting.to_action")
    return np.clip(array, -1.0, 1.0)
