"""GP-UCB-CPD and what it is compared with (Avanesov 2020)."""

import math

import numpy as np
import pytest
from agent_cases import on_a_line
from players import play

import agents
from agents.registry import resolve_agent
from agents.widths.base import ChangePointWidth
from bandit_envs import BanditEnv, BanditVectorEnv, Decisions, Problem
from bandit_envs.kernels.kernels import make_kernel
from bandit_envs.laws import Gaussian, GPSample, changes, delays
from gpbandits import evaluate

GRID = np.linspace(0.0, 5.0, 100)[:, None]


def problem(horizon=240, change_points=(120,), **laws):
    kernel = make_kernel("matern52", 1.0)
    laws = {"noise": Gaussian(0.05), "changes": changes.AtRounds(change_points), **laws}
    return Problem(Decisions(GRID), GPSample(), kernel, horizon=horizon, **laws)


def played(environment, trials=4, **named):
    return evaluate(environment, named, trials=trials).actions


@pytest.mark.long
def test_without_an_alarm_a_change_or_a_detector_the_plays_are_the_same():
    actions = played(
        problem(change_points=()),
        cpd=("gp-ucb-cpd", {"theta": math.inf}),
        oracle="gp-ucb-oracle",
        never="gp-ucb-no-detector",
    )
    np.testing.assert_array_equal(actions["cpd"], actions["never"])
    np.testing.assert_array_equal(actions["oracle"], actions["never"])


def test_without_forced_exploration_it_is_gp_ucb():
    actions = played(
        problem(),
        zero=("gp-ucb-no-detector", {"xi_squared": 0}),
        plain=("gp-ucb", {"width": "change-point"}),
        three="gp-ucb-no-detector",
    )
    np.testing.assert_array_equal(actions["zero"], actions["plain"])
    assert not np.array_equal(actions["three"], actions["plain"])


@pytest.mark.long
def test_alarms_follow_changes_and_restart_the_trial_that_raised_them():
    env = BanditVectorEnv(problem(horizon=500, change_points=(200,)), 6)
    observation, _ = env.reset(seed=list(range(6)))
    agent = agents.make("gp-ucb-cpd", env.setting, num_trials=6)
    agent.reset(list(range(6)))
    play(env, agent, observation, 500)
    detected = [trial for trial, rounds in enumerate(agent.alarms) if any(r >= 200 for r in rounds)]
    assert len(detected) >= 4
    for trial, rounds in enumerate(agent.alarms):
        since = rounds[-1] + 1 if rounds else 0
        assert agent.t[trial] == 500 - since + 1


def test_the_width_is_equation_3_7_of_the_plays_before():
    width = ChangePointWidth(horizon=1200, dim=1, smoothness=2.5, constant=0.02)
    found = width(np.array([1, 2, 101]), np.zeros(3))
    beta = 0.02 * np.array([0.0, 1.0, 100.0 ** (2 / 7)]) * math.log(1200) ** 4
    np.testing.assert_allclose(found, np.sqrt(beta))


def test_the_theory_reading_assumes_the_noise_of_the_paper():
    env = BanditEnv(problem(horizon=1200))
    model = agents.make("gp-ucb-cpd", env, reading="theory").model
    assert model.noise_variance == pytest.approx(6 * 0.05**2 * math.log(1200))


@pytest.mark.long
def test_uniform_rounds_are_uniform_over_the_arms():
    agent = agents.make("gp-ucb-no-detector", on_a_line(4, horizon=4), num_trials=4000)
    agent.reset(range(4000))
    zeros = observation = np.zeros((4000, 1))
    info = {"feedback_mask": zeros == 0, "feedback_step": zeros.astype(int), "feedback_reward": zeros}
    agent.update(observation, agent.act(observation), None, info)
    counts = np.bincount(agent.act(observation), minlength=4)  # knows something, and plays any arm
    assert np.abs(counts - 1000).max() < 4 * np.sqrt(4000 * 3 / 16)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("laws", [{}, {"delay": delays.PoissonDelay(4.0)}], ids=["now", "late"])
@pytest.mark.parametrize("name", ["gp-ucb-cpd", "gp-ucb-oracle"])
def test_a_batch_whose_trials_start_over_at_different_times_equals_the_trials_alone(name, laws):
    alone = resolve_agent((name, {"theta": 0.5} if name == "gp-ucb-cpd" else {}))
    several = problem(**laws)
    batch = played(several, it=lambda setting, num_trials=None: alone(setting, num_trials))
    singles = played(several, it=lambda setting: alone(setting))
    np.testing.assert_array_equal(batch["it"], singles["it"])


def test_only_the_oracle_is_privileged():
    assert agents.features("gp-ucb-oracle").privileged
    assert not agents.features("gp-ucb-cpd").privileged
    result = evaluate(problem(horizon=20, change_points=()), ["gp-ucb-oracle", "gp-ucb-cpd"], trials=1)
    assert result.privileged == {"gp-ucb-oracle"}
