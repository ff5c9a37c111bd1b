"""Convert and check actions at the boundary; wrong ones are never silently repaired."""

from typing import Any

import numpy as np
from gymnasium import spaces

from bandit_envs.basics.types import Floats, Ints
from bandit_envs.problem.decisions import SLACK, Decisions


class AvailableArms(spaces.Discrete):
    """Sample among the arms available now, as libraries without masks do; of a copy, give a mask."""

    now: np.ndarray | None = None  # int8 (A,), 1 for available arms; None before the first reset

    def sample(self, mask: Any = None, probability: Any = None) -> Any:
        """Draw an arm; see `gymnasium.spaces.Discrete`."""
        return super().sample(self.now if mask is None and probability is None else mask, probability)


def action_space(decisions: Decisions, volatile: bool = False) -> spaces.Space:
    """Return `Discrete(A)`, `MultiDiscrete([A, A])` of duels, or `Box(-1, 1, (d,))`."""
    if decisions.continuous:
        return spaces.Box(-1.0, 1.0, (decisions.arms.shape[1],), np.float32)
    if decisions.duel:
        return spaces.MultiDiscrete([decisions.num_arms] * 2)
    return AvailableArms(decisions.num_arms) if volatile else spaces.Discrete(decisions.num_arms)


def shaped_actions(actions: Any, batch: tuple[int, ...], decisions: Decisions) -> np.ndarray:
    """Return actions as integers of shape `batch`, in duels (*batch, 2), or numbers (*batch, d), or raise."""
    array = np.asarray(actions)
    shape = (*batch, *decisions.action_shape)
    if array.shape != shape or array.dtype.kind not in ("fiu" if decisions.continuous else "iu"):
        several = (
            "a pair of integer arms" if decisions.duel else "integer arms" if batch else "an integer arm"
        )
        kind = "numbers in [-1, 1]" if decisions.continuous else several
        raise ValueError(f"action must be {kind} of shape {shape}, got {array!r}")
    return array


def checked_action(action: Any, decisions: Decisions) -> Any:
    """Return the action of one trial, an arm as an integer, a pair (2,) or (d,) in [-1, 1], or raise."""
    if decisions.action_shape:
        return checked_actions(shaped_actions(action, (), decisions), decisions)
    arm = action if type(action) is int else shaped_actions(action, (), decisions).item()
    if not 0 <= arm < decisions.num_arms:
        raise ValueError(_not_an_arm(decisions.num_arms, arm))
    return arm


def checked_actions(array: np.ndarray, decisions: Decisions) -> Ints | Floats:
    """Return the `shaped_actions` of n trials, (n,) arms, (n, 2) pairs or (n, d) in [-1, 1], or raise."""
    if decisions.continuous:
        array = array.astype(np.float64)
        if not (np.abs(array) <= 1.0 + SLACK).all():  # false for NaN
            raise ValueError(f"action must be finite and in [-1, 1], got {array}; see setting.to_action")
        return np.clip(array, -1.0, 1.0)
    arms = array.astype(np.int64, copy=False)
    unsigned = arms.view(np.uint64)  # -1 is the largest number; its place is found sooner than its value
    if arms.size and unsigned.item(unsigned.argmax()) >= decisions.num_arms:
        raise ValueError(_not_an_arm(decisions.num_arms, array))
    return arms


def _not_an_arm(num_arms: int, given: Any) -> str:
    return f"action must be an arm in 0..{num_arms - 1}, got {given}"
