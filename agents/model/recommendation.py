"""The recommendation of an agent: the arm to use from now on."""

from __future__ import annotations

from typing import Any, NamedTuple

from bandit_envs.basics.types import Floats


class Recommendation(NamedTuple):
    """Recommended arm with its posterior; a single trial has no trial axis."""

    action: Any  # (B,) arms
    point: Floats  # (B, d) their features
    mean: Any  # (B,) posterior mean of the reward there; None for an agent without a model
    std: Any  # (B,) posterior standard deviation of the mean reward; None without a model

    @property
    def alone(self) -> Recommendation:
        """The recommendation of a batch's only trial, without the trial axis."""
        return Recommendation(int(self.action[0]), self.point[0], float(self.mean[0]), float(self.std[0]))
