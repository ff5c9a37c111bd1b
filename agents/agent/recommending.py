"""Recommend an arm of a finite set."""

from __future__ import annotations

from typing import Any

from bandit_envs.basics.types import Ints
from bandit_envs.problem.setting import Setting

from ..beliefs.base import Belief
from ..model.recommendation import Recommendation
from ..model.tie_breaking import arms_among
from ..objectives.base import Objective


def best_arms(
    setting: Setting, belief: Belief, objective: Objective, context: Ints, t: Ints, among: Any
) -> Recommendation:
    """Return each trial's arm of the largest posterior mean, under constraints of the penalised mean.

    Args:
        setting: holds the arms' features.
        belief: the posterior of the objective.
        objective: what is maximised.
        context: of each trial, (B,).
        t: 1, 2, ..., of each trial, (B,).
        among: the arms to choose from, (n,); None is all.
    """
    mean, std = belief.mean(context), belief.std(context)
    arms = arms_among(among, mean.shape[1])
    worth = objective.penalised(mean, context, t)
    arm = arms[worth[:, arms].argmax(axis=1)]
    known = objective.in_reward_units(mean[belief.rows, arm], std[belief.rows, arm])
    return Recommendation(arm, setting.to_point(arm), *known)
