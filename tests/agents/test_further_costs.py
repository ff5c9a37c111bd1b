"""A cost that is never violated, or that is there twice, changes no play but where an agent has a reason."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from agent_cases import BATCHED, of_each_shape, seed_for

import agents
from bandit_envs import BanditVectorEnv
from bandit_envs.problems import build

COSTS_MORE = "the first sweep plays for each cost"
PRODUCT = "the probabilities of independent costs are multiplied, and that of a slack one is below 1"
CHARGED_TWICE = "each copy has a multiplier or charge of its own"
SLACK_CHANGES = {
    "admmbo": COSTS_MORE,
    "constrained-ei": PRODUCT,
    "ise": "it learns about every cost, a slack one too",
}
COPY_CHANGES = {
    "admmbo": COSTS_MORE,
    "constrained-ei": PRODUCT,
    **dict.fromkeys(("bandit-oco", "ckb", "epbo", "pdcbo", "rpol"), CHARGED_TWICE),
    **dict.fromkeys(("gp-ucb-noiseless-constraints", "gp-ucb-noisy-constraints"), CHARGED_TWICE),
}
# Bands that share delta are wider with one cost more, by the union bound; these have widths of their own.
FIXED = {
    "gp-agent": {"width": 2.0, "constraint_options": {"cost_width": 2.0}},
    **{name: {"cost_width": 2.0} for name in BATCHED if agents.features(name).seed},
}
CONSTRAINED = [name for name in BATCHED if agents.features(name).constraint]


def actions(name: str, further: Callable[[Any], Any] | None, std: float) -> np.ndarray:
    """What an agent plays in four trials where a function of the cost is told as a second one, (T, 4)."""
    place = build(
        "constrained", {"num_arms": 30, "horizon": 60, "constraint_noise_std": 0.1} | seed_for(name)
    )
    env = BanditVectorEnv(place, 4, autoreset_mode="Disabled")
    seen, info = env.reset(seed=range(4))
    setting = env.setting
    if further is not None:
        slopes = setting.lipschitz
        setting = replace(
            setting,
            num_constraints=2,
            constraint_prior_std=np.append(setting.constraint_prior_std, std),
            lipschitz=None if slopes is None else np.repeat(slopes, 2, axis=-1),
        )
    agent = agents.make(name, setting, 4, **FIXED.get(name, {}))
    agent.reset(range(4))
    played = []
    for _ in range(place.horizon):
        action = agent.act(seen)
        following, reward, _, _, info = env.step(action)
        if further is not None:
            cost = info["feedback_cost"]
            info = info | {"feedback_cost": np.concatenate([cost, further(cost)], axis=-1)}
        agent.update(seen, action, reward, info)
        played.append(action)
        seen = following
    return np.array(played)


@pytest.mark.filterwarnings("ignore:psi of noisy costs is biased")
@pytest.mark.parametrize("name", of_each_shape(name for name in CONSTRAINED if name not in SLACK_CHANGES))
def test_a_cost_that_is_never_violated_changes_no_play(name):
    slack = actions(name, lambda cost: 0.5 * cost - 3.0, std=3.0)
    np.testing.assert_array_equal(slack, actions(name, None, std=0.0))


@pytest.mark.filterwarnings("ignore:psi of noisy costs is biased")
@pytest.mark.parametrize("name", of_each_shape(name for name in CONSTRAINED if name not in COPY_CHANGES))
def test_a_cost_that_is_there_twice_changes_no_play(name):
    twice = actions(name, lambda cost: cost, std=1.0)
    np.testing.assert_array_equal(twice, actions(name, None, std=0.0))
