"""What an agent says when it is asked what to use from now on."""

from __future__ import annotations

from typing import Any, NamedTuple

from bandit_envs.basics.types import Floats


class Recommendation(NamedTuple):
    """The answer of an agent: what to use from now on. Without a trial axis for one environment."""

    action: Any  # (B,) arms
    point: Floats  # (B, d) their features
    mean: Any  # (B,) posterior mean of the reward there; None of an agent without a model
    std: Any  # (B,) posterior standard deviation of the mean reward; None without a model

    @property
    def alone(self) -> Recommendation:
        """Of the only trial of a batch, without its axis."""
        return Recommendation(int(self.action[0]), self.point[0], float(self.mean[0]), float(self.std[0]))
