"""The unit of learners' rewards, which makes their plays independent of the environment's unit."""

from __future__ import annotations

from typing import Any

import numpy as np

from bandit_envs.problem.setting import Setting

from ..kernels.shape import largest_deviation


def published_unit(setting: Setting) -> float | None:
    """Return the largest prior std of the reward; None where no kernel is published."""
    if setting.kernel is None:
        return None
    return largest_deviation(setting.kernel, setting.decisions.points)


class RewardUnit:
    """Divisor of a trial's rewards: the published prior std or, without one, their root mean square so far.

    Args:
        setting: the published setting.
    """

    def __init__(self, setting: Setting):
        self._published = published_unit(setting)
        self._number, self._scale = 0, 0.0  # root mean square of so many rewards

    @property
    def value(self) -> float:
        """The unit at present; 1 before any reward but 0."""
        return self._published or self._scale or 1.0

    def note(self, info: dict[str, Any], reward: float) -> None:
        """Update the unit with a round's feedback; an aggregated sum counts as one reward."""
        mask = info.get("feedback_mask")
        told = [reward] if "feedback_reward" not in info else np.asarray(info["feedback_reward"])[mask]
        for value in np.abs(np.asarray(told, dtype=np.float64)).tolist():
            self._add(value)

    def _add(self, value: float) -> None:
        self._number += 1
        largest = max(self._scale, value)  # scaled so that no square can overflow
        if largest > 0.0:
            squares = (self._number - 1) * (self._scale / largest) ** 2 + (value / largest) ** 2
            self._scale = largest * float(np.sqrt(squares / self._number))
