"""The arms available in the next round, from `info` where arms may be missing."""

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
    """Return the mask of arms available in the next round, (B, A); None where arms are never missing.

    Args:
        info: of the environment's reset or of a step.
        setting: says whether arms may be missing.
        num_trials: B, or None for a single trial without a trial axis.
    """
    if not isinstance(info, dict):
        require(isinstance(info, Mapping), "info", "the dict that the environment returned", info)
    if not setting.volatile:
        if KEY in info:
            raise ValueError(
                f'info must have no "{KEY}" where setting.volatile is False; make the agent for the setting '
                "of the environment, or make Setting(..., volatile=True)"
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
    """Raise where arms may be missing but no mask has been given."""
    if setting.volatile and offered is None:
        raise RuntimeError(
            "the agent does not know which arms may be played; call start(info) after its reset, with the "
            "info of env.reset()"
        )


def only_offered(values: Floats, offered: Bools | None) -> Floats:
    """Return the values of arms, (B, A), with minus infinity for unavailable ones."""
    return values if offered is None else np.where(offered, values, -np.inf)
