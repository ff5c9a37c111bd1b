"""Our vector environment beside Gymnasium's `SyncVectorEnv` of single ones, and how they are compared."""

from __future__ import annotations

from typing import Any

import numpy as np
from cases import Case
from gymnasium.vector import AutoresetMode

COPIES = 3


def pair(case: Case, mode: AutoresetMode, copies: int = COPIES, **more: Any) -> tuple[Any, Any]:
    """Ours and Gymnasium's, with the same actions to come."""
    ours, theirs = case.vector(copies, autoreset_mode=mode, **more), case.sync(copies, mode, **more)
    ours.action_space.seed(9)
    theirs.action_space.seed(9)
    return ours, theirs


def same(ours: Any, theirs: Any) -> None:
    """Equal values, types, dtypes, keys and order of keys; bitwise."""
    assert type(ours) is type(theirs)
    if isinstance(ours, dict):
        assert ours.keys() == theirs.keys()
        for key in ours:
            same(ours[key], theirs[key])
    elif isinstance(ours, tuple):
        assert len(ours) == len(theirs)
        for mine, other in zip(ours, theirs, strict=True):
            same(mine, other)
    elif isinstance(ours, np.ndarray) and ours.dtype == object:
        same(tuple(ours), tuple(theirs))
    elif isinstance(ours, np.ndarray):
        assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
        assert ours.tobytes() == theirs.tobytes()
    else:
        assert ours == theirs


def random_actions(env: Any) -> Any:
    """Of each copy, among those that it may play."""
    problem = env.get_attr("unwrapped")[0].problem
    masks = tuple(mask.astype(np.int8) for mask in env.call("action_masks")) if problem.volatile else None
    return env.action_space.sample(masks)


def step_both(ours: Any, theirs: Any) -> tuple[Any, Any]:
    mine, other = ours.step(random_actions(ours)), theirs.step(random_actions(theirs))
    same(mine, other)
    return mine, other


def play_both(ours: Any, theirs: Any, mode: AutoresetMode, steps: int) -> int:
    """Play, resetting by mask where nothing else does; return the number of ends."""
    ends = 0
    for _ in range(steps):
        (_, _, terminated, truncated, _), _ = step_both(ours, theirs)
        ended = terminated | truncated
        ends += int(ended.sum())
        if mode is AutoresetMode.DISABLED and ended.any():
            # Gymnasium takes the mask out of the options it is given.
            same(*(env.reset(options={"reset_mask": ended.copy()}) for env in (ours, theirs)))
    return ends
