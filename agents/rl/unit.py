"""The unit in which learners are told rewards: what they play does not depend on that of the environment."""

from __future__ import annotations

from typing import Any

import numpy as np

from bandit_envs.problem.setting import Setting

from ..kernels.shape import largest_deviation


def published_unit(setting: Setting) -> float | None:
    """The largest prior deviation of the reward; None where no kernel tells it."""
    if setting.kernel is None:
        return None
    return largest_deviation(setting.kernel, setting.decisions.points)


class RewardUnit:
    """What rewards of a trial are divided by: the prior deviation or, untold, their root mean square so far.

    Args:
        setting: what is published of the problem.
    """

    def __init__(self, setting: Setting):
        self._published = published_unit(setting)
        self._number, self._scale = 0, 0.0  # root mean square of so many rewards

    @property
    def value(self) -> float:
        """Of all that is told now; 1 before anything but 0 has come."""
        return self._published or self._scale or 1.0

    def note(self, info: dict[str, Any], reward: float) -> None:
        """Learn from what arrived in a round; of a sum it is not known what it is made of."""
        mask = info.get("feedback_mask")
        told = [reward] if "feedback_reward" not in info else np.asarray(info["feedback_reward"])[mask]
        for value in np.abs(np.asarray(told, dtype=np.float64)).tolist():
            self._add(value)

    def _add(self, value: float) -> None:
        self._number += 1
        largest = max(self._scale, value)  # taken out before a square can overflow
        if largest > 0.0:
            squares = (self._number - 1) * (self._scale / largest) ** 2 + (value / largest) ** 2
            self._scale = largest * float(np.sqrt(squares / self._number))
