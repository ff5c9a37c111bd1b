"""What changes and restarts do at the edges: wrong options, long waits, and a restart as an epoch ends."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, Matern

import agents
import bandit_envs  # noqa: F401 (registers the ids)
from agents.kernels.context_free import InContext, without_contexts
from agents.kernels.order import order_of
from bandit_envs.laws.changes import Geometric
from bandit_envs.problem.setting import Setting

COMPOSITE = "GPBandit-Composite-v0"


def made(**options: Any) -> Any:
    env = gym.make(COMPOSITE, num_arms=20, horizon=60, delay=None, context=None)
    env.reset(seed=0)
    return agents.make("gp-agent", env.get_wrapper_attr("setting"), **options)


@pytest.mark.parametrize("min_gap", [1, 2, 3, 50, 2**62])
def test_a_change_that_hardly_ever_comes_does_not_come(min_gap):
    segment = Geometric(hazard=1e-25, min_gap=min_gap).draw(100, np.random.default_rng(0))
    np.testing.assert_array_equal(segment, 0)


@pytest.mark.parametrize("min_gap", [1, 4, 30])
def test_segments_last_as_long_as_they_must_and_begin_at_zero(min_gap):
    for seed in range(20):
        segment = Geometric(hazard=0.5, min_gap=min_gap).draw(100, np.random.default_rng(seed))
        lengths = np.bincount(segment)
        assert segment[0] == 0
        assert (lengths[:-1] >= min_gap).all()


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (
            {"restart_options": {"foo": 1}},
            r"restart_options must be options of 'cpd' \(xi_squared, ridge, .*foo",
        ),
        ({"restart": "periodic"}, r"restart_options must be options of 'periodic' \(every\), got None"),
        ({"restart": "never", "restart_options": {"every": 2}}, r"restart_options .*\(it takes none\)"),
        ({"restart_options": 3}, "restart_options must be options of .* got 3"),
        ({"belief": "censored", "belief_options": {"foo": 1}}, r"belief_options .*\(window, reward_bound\)"),
        ({"rule": "ei", "rule_options": {"psi": 1}}, r"rule_options .*\(xi\)"),
        (
            {"constraint": "none", "constraint_options": {"step": 1}},
            r"constraint_options .*\(it takes none\)",
        ),
        (
            {"restart_options": {"theta": 1.0, "false_alarm_rate": 0.1}},
            "theta must be None where false_alarm",
        ),
        ({"restart_options": {"theta": "high"}}, "theta must be positive, got high"),
        ({"restart": "periodic", "restart_options": {"every": 2.5}}, "every must be an integer, got 2.5"),
    ],
)
def test_wrong_options_of_a_part_are_named_with_those_it_takes(options, named):
    with pytest.raises(ValueError, match=named):
        made(**options)


@pytest.mark.parametrize(("kernel", "order"), [(RBF(0.2), np.inf), (Matern(0.2, nu=1.5), 1.5)])
def test_a_kernel_in_one_context_is_as_smooth_as_it_is_in_all(kernel, order):
    assert order_of(InContext(kernel, [0.5])) == order


@pytest.mark.parametrize("every", [20, 1000])
def test_the_play_after_a_restart_knows_nothing_though_an_epoch_ends_with_it(every):
    env = gym.make(COMPOSITE, num_arms=20, horizon=60, delay=None, context=None)
    openings = set()
    for seed in range(12):
        observation, _ = env.reset(seed=0)
        agent = agents.make(
            "gp-agent",
            env.get_wrapper_attr("setting"),
            constraint="dual",
            constraint_options={"reuse": False, "epoch": 20},
            restart="periodic",
            restart_options={"every": every},
        )
        agent.reset(seed)
        for arm in range(20):  # whatever it would play: all have seen the same
            agent.act(observation)
            following, reward, _, _, info = env.step(arm)
            agent.update(observation, arm, reward, info)
            observation = following
        openings.add(agent.act(observation))
    assert (len(openings) > 4) == (every == 20)  # without a restart, all begin the epoch at the best mean


def test_an_agent_without_contexts_does_not_look_at_those_of_a_box_either():
    box = {"low": np.zeros(1), "high": np.ones(1), "context_low": np.array([0.2]), "context_high": np.ones(1)}
    full = Setting(**box, horizon=20, kernel=RBF(0.3))
    blind = without_contexts(full)
    assert not blind.has_contexts
    arms = np.linspace(0, 1, 5)[:, None]
    np.testing.assert_allclose(blind.kernel(arms), full.kernel(np.hstack([np.full((5, 1), 0.2), arms])))
    agent = agents.make("gp-agent", full, context=False)
    actions = []
    for observation in (np.array([0.3]), np.array([0.9])):
        agent.reset(0)
        actions.append(agent.act(observation))
    np.testing.assert_array_equal(*actions)
    assert agent.recommend().action.shape == (1,)  # asks for no observation
