"""Which arms may be played in the next round, as `info` says where arms come and go."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bandit_envs.basics.arguments import require
from bandit_envs.basics.types import Bools, Floats
from bandit_envs.problem.setting import Setting

KEY = "action_mask"
LOWEST = -np.finfo(np.float64).max


def offered_in(info: dict[str, Any], setting: Setting, num_trials: int | None) -> Bools | None:
    """Return which arms may be played next, (B, A); None where all may be, always.

    Args:
        info: of the environment's reset or of a step.
        setting: says whether arms may be missing.
        num_trials: B, None of one environment without a trial axis.
    """
    if not isinstance(info, dict):
        require(isinstance(info, Mapping), "info", "the dict that the environment returned", info)
    if not setting.volatile:
        if KEY in info:
            raise ValueError(
                f'info must have no "{KEY}" where setting.volatile is False; make the agent for the setting '
                "of the environment, or say Setting(..., volatile=True)"
            )
        return None
    shape = (() if num_trials is None else (num_trials,)) + (setting.decisions.num_arms,)
    mask = np.asarray(info.get(KEY))
    empty = mask.shape == shape and not mask.any(axis=-1).all()
    if mask.shape != shape or empty or not np.isin(mask, (0, 1)).all():
        given = f"one of shape {mask.shape}" if KEY in info else "none"
        given = f"{given} without any arm" if empty else given
        raise ValueError(f'info["{KEY}"] must be {shape}, 1 of arms that may be played, got {given}')
    return np.asarray(np.atleast_2d(mask) == 1)


def require_offered(offered: Bools | None, setting: Setting) -> None:
    """Raise where arms may be missing and nobody has said which."""
    if setting.volatile and offered is None:
        raise RuntimeError(
            "the agent does not know which arms may be played; call start(info) after its reset, with the "
            "info of env.reset()"
        )


def only_offered(values: Floats, offered: Bools | None) -> Floats:
    """The values of arms, (B, A), minus infinity for those that may not be played."""
    return values if offered is None else np.where(offered, values, -np.inf)
