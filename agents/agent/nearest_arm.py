"""Play agents for boxes on a finite set: the arm nearest to their choice is played."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from bandit_envs.basics.types import Floats
from bandit_envs.problem.setting import Setting

from ..model.recommendation import Recommendation
from ..model.tie_breaking import arms_among
from ..showing import Shown


def in_box(setting: Setting) -> Setting:
    """Return the setting with the box around its arms as decision set."""
    mean = float(np.mean(setting.prior_mean))
    return replace(setting, arms=None, prior_mean=mean, noise_profile=None, safe_seed=None)


class NearestArm(Shown):
    """Play one trial of an agent for boxes, which learns the nearest arm's feedback at that arm.

    Args:
        make: builds an agent from the setting of a box.
        setting: with arms.
    """

    num_trials = None

    def __init__(self, make: Callable[[Setting], Any], setting: Setting):
        if setting.continuous:
            raise ValueError("setting must have arms, got a box; the agent plays that itself")
        self.setting, self._box = setting, in_box(setting)
        self.agent = make(self._box)

    @property
    def assumes_bound(self) -> bool:
        """Return True if the agent relies on a default bound, neither given nor published."""
        return getattr(self.agent, "assumes_bound", False)

    def reset(self, seed: int) -> None:
        """Forget everything."""
        self.agent.reset(seed)

    def act(self, observation: Floats) -> int:
        """Choose an arm for the observed context, (dz,)."""
        return self._arm(self.agent.act(observation))

    def update(self, observation: Floats, action: Any, reward: Any, info: dict[str, Any]) -> None:
        """Learn from a round."""
        self.agent.update(observation, self._action(action), reward, info)

    def recommend(self, observation: Floats | None = None, among: Any = None) -> Recommendation:
        """Recommend the arm nearest to the point of the largest mean, with that point's mean and std.

        Args:
            observation: the context; may be left out where there is only one.
            among: the arms to choose from, (n,); default any point of the box.
        """
        actions = None if among is None else self._action(arms_among(among, self.setting.decisions.num_arms))
        best = self.agent.recommend(observation, actions)
        arm = self._arm(best.action)
        return best._replace(action=arm, point=self.setting.to_point(arm))

    def _arm(self, action: Any) -> int:
        return int(self.setting.to_action(self._box.to_point(action)))

    def _action(self, arm: Any) -> Any:
        return self._box.to_action(self.setting.to_point(arm))
