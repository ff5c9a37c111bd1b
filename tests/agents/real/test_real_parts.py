"""Each part of the agent for real problems can be left out alone, and the agent then plays otherwise."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from real_cases import SEEN, hyperparameters, line, surrogate, values

from agents.model.model import Model
from agents.real.choice import publishes, real_agent
from agents.real.quantities import RealParts
from agents.real.surrogate import Surrogate
from bandit_envs.kernels.kernels import make_kernel
from bandit_envs.laws.delays import PoissonDelay
from bandit_envs.problem.feedback import delivery

PUBLISHED = {"kernel": make_kernel("rbf", 0.5), "noise_std": 0.1}
LATE = {"max_delay": 9, "delay": PoissonDelay(4.0)}
LIMITED = {"num_constraints": 1}
LEFT_OUT = {
    "rule": (RealParts(score=lambda value, mean, variance, noise, use: value + np.sqrt(variance)), {}),
    "transform": (RealParts(alphas=(0.0,)), {}),
    "noise an arm": (RealParts(noise_weight=1e6), {}),
    "chains": (RealParts(chains=0), {}),
    "published model": (RealParts(refuted=-math.inf), PUBLISHED),
    "pending": (RealParts(pending=False), LATE),
    "first plays": (RealParts(first=1), {}),
    "what is learnt under limits": (RealParts(limits_share=1.0), LIMITED),
}


def law(arm: int, t: int) -> float:
    """A steep lower half, and noise that differs between arms."""
    height = np.sin(0.4 * arm)
    return float(height if height > 0.0 else -math.expm1(-4.0 * height)) + 0.3 * (arm % 3) * (-1.0) ** t


def played(parts: RealParts, published, rounds: int = 30, law=law) -> tuple[Any, list[int]]:
    setting = line(num_arms=25, horizon=60, **published)
    agent: Any = real_agent(Model.of(setting), publishes(setting, {}), parts=parts)
    agent.reset(0)
    plays = []
    for t in range(rounds):
        plays.append(agent.act(SEEN))
        due = np.array([t - setting.max_delay] if t >= setting.max_delay else [], dtype=np.int64)
        rewards = np.array([law(plays[each], each) for each in due])
        agent.update(
            SEEN, plays[-1], 0.0, delivery(t, due, rewards, costs_of(plays, due, setting), setting.max_delay)
        )
    return agent, plays


def costs_of(plays: list[int], due: Any, setting: Any) -> Any:
    """Costs of which those of the arms in the second half break the limit, (n, C)."""
    costs = [[plays[each] / 12.0 - 1.0] * setting.num_constraints for each in due]
    return np.array(costs).reshape(len(due), setting.num_constraints)


@pytest.mark.parametrize("part", LEFT_OUT)
def test_a_part_left_out_changes_plays(part):
    parts, published = LEFT_OUT[part]
    assert played(parts, published)[1] != played(RealParts(), published)[1]


def test_a_published_model_is_kept_as_long_as_asked():
    """Values of another kernel refute it."""
    kept = []
    for refuted in (-math.inf, 3.0, math.inf):
        found, _ = played(RealParts(refuted=refuted), PUBLISHED, law=lambda arm, t: 9.0 * (-1.0) ** arm)
        kept.append(found.learners[0].values.trusted)
    assert kept == [False, False, True]


def test_without_an_alarm_no_change_is_detected():
    found = {}
    for alarm in (4.0, math.inf):
        published = {"may_change": True, **PUBLISHED}
        agent, _ = played(
            RealParts(alarm=alarm),
            published,
            40,
            lambda arm, t: np.sin(0.3 * arm) * (1.0 if t < 20 else -3.0),
        )
        found[alarm] = len(agent.alarms)
    assert found[4.0] > 0
    assert found[math.inf] == 0


def test_of_a_large_weight_the_noise_is_that_of_all_arms():
    of = surrogate()
    common, theta = Surrogate(of.parameters, of.prior, 1e9), hyperparameters(of)
    np.testing.assert_allclose(common.noises(theta, values()), of.noise(theta), rtol=1e-6)


@pytest.mark.parametrize("weight", [1.0, 50.0])
def test_slopes_of_the_loss_are_those_of_differences_whatever_the_weight(weight):
    of = surrogate()
    of = Surrogate(of.parameters, of.prior, weight)
    theta, seen, step = hyperparameters(of), values(), 1e-5
    _, slopes = of.loss(theta, seen)
    for i in range(len(theta)):
        moved = step * np.eye(len(theta))[i]
        rise = of.loss(theta + moved, seen)[0] - of.loss(theta - moved, seen)[0]
        assert slopes[i] == pytest.approx(rise / (2.0 * step), abs=1e-4)
