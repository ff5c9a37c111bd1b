"""Conversion of a library's actions to the environment's."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from bandit_envs.basics.types import Floats
from bandit_envs.environment.actions import action_space
from bandit_envs.problem.setting import Setting


class Plays:
    """Map of actions: arms and points of a box unchanged, and on a finite set a point to its nearest arm.

    Distances are in the box scaled to [-1, 1]^d, where all features have equal weight.

    Args:
        setting: the published setting.
        box: True if the library plays points of [-1, 1]^d, also where the decision set is finite.
    """

    def __init__(self, setting: Setting, box: bool):
        box_space = spaces.Box(-1.0, 1.0, (setting.dim,), np.float32)
        self.space: spaces.Space = box_space if box else action_space(setting.decisions)
        self.box, self.nearest = box, box and not setting.continuous
        self._arms: Floats = 2.0 * setting.decisions.unit_arms - 1.0 if self.nearest else np.empty((0, 0))

    def __call__(self, action: Any) -> Any:
        """Return the environment's action."""
        if self.nearest:
            return int(((self._arms - action) ** 2).sum(axis=1).argmin())
        return np.array(action, dtype=np.float32) if self.box else int(action)
