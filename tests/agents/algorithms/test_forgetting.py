"""Algorithms that forget or start over, GP-UCB where nothing changes; GP-UCB-CPD (Avanesov 2020)."""

import math
from functools import partial

import numpy as np
import pytest
from agent_cases import batch_as_singles, on_a_line
from players import started

import agents
from agents.algorithms.changing import discount_of, drift_of, memory_length, window_of
from agents.beliefs.delivered import discounted, sliding_window, time_varying
from agents.model.model import Model
from agents.model.rounds import Clock, Delivery
from agents.widths.base import ChangePointWidth, LogarithmicWidth
from bandit_envs import BanditEnv, Decisions, Problem, Setting
from bandit_envs.kernels.kernels import make_kernel
from bandit_envs.laws import Gaussian, GPSample, changes, delays
from bandit_envs.problem.decisions import unit_grid
from gpbandits import evaluate

PEERS = ["r-gp-ucb", "sw-gp-ucb", "tv-gp-ucb", "ui-tvbo", "w-gp-ucb"]
NEUTRAL = {
    "sw-gp-ucb": {"window": 60},
    "r-gp-ucb": {"every": 61},
    "tv-gp-ucb": {"eps": 0.0},
    "ui-tvbo": {"rate": 0.0, "width": "finite-set"},
    "w-gp-ucb": {"discount": 1.0, "width": "finite-set"},
}


def problem(horizon=60, **laws):
    laws = {"decisions": Decisions(unit_grid(40)), "kernel": make_kernel("matern52", 0.2), **laws}
    return Problem(reward=GPSample(), horizon=horizon, **laws)


PROBLEMS = {
    "immediate": {},
    "delayed": {"delay": delays.PoissonDelay(4.0)},
    "contexts": {
        "decisions": Decisions(unit_grid(10), contexts=unit_grid(5)),
        "delay": delays.PoissonDelay(2.0),
    },
    "changes": {"changes": changes.AtRounds((20, 40))},
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("laws", PROBLEMS.values(), ids=PROBLEMS)
@pytest.mark.parametrize("name", PEERS)
def test_a_peer_that_forgets_nothing_is_gp_ucb(name, laws):
    result = evaluate(problem(**laws), {"peer": (name, NEUTRAL[name]), "GP-UCB": "gp-ucb"}, trials=3)
    np.testing.assert_array_equal(result.actions["peer"], result.actions["GP-UCB"])


@pytest.mark.parametrize("name", ["sw-gp-ucb", "tv-gp-ucb", "w-gp-ucb"])
def test_values_that_come_late_in_units_of_time_have_the_age_of_their_plays(name):
    times = np.cumsum(np.random.default_rng(0).exponential(size=50))
    clock = Clock(times)
    for now in range(50):
        played = np.arange(now + 1)
        np.testing.assert_array_equal(clock.age(clock.delay(played, now), now), now - played)
    setting = Setting(arms=unit_grid(20), horizon=50, kernel=make_kernel("rbf"), noise_std=0.1)
    in_time = setting.with_facts(query_times=times)
    make = {
        "sw-gp-ucb": partial(sliding_window, window=12),
        "tv-gp-ucb": partial(time_varying, eps=0.1),
        "w-gp-ucb": partial(discounted, discount=0.9),
    }[name]
    beliefs = [make(Model.of(each), 1) for each in (setting, in_time)]
    rng = np.random.default_rng(1)
    for now in range(45):
        point, late, value = rng.integers(20, size=1), min(int(rng.integers(15)), now), rng.normal(size=1)
        for belief, counter in zip(beliefs, (Clock(), clock), strict=True):
            belief.play(point)
            delay = counter.delay(np.array([now - late]), now)
            belief.receive(Delivery.of_values(np.zeros(1, dtype=np.int64), point, value, delay=delay))
    zero = np.zeros(1, dtype=np.int64)
    np.testing.assert_array_equal(beliefs[0].mean(zero), beliefs[1].mean(zero))
    np.testing.assert_array_equal(beliefs[0].std(zero), beliefs[1].std(zero))


def test_the_defaults_follow_the_papers_formulas():
    setting = Setting(arms=unit_grid(50), horizon=900, kernel=make_kernel("matern52"), noise_std=0.1)
    model = Model.of(setting)
    length = memory_length(model, 2.25)
    eigenvalues = np.linalg.eigvalsh(model.gram.dense)
    # the spectral bound: the best of many allotments comes close to it from below
    shares = np.random.default_rng(0).dirichlet(np.full(50, 0.05), size=500)
    tried = 0.5 * np.log1p(900 * shares * eigenvalues[::-1] / 0.01).sum(axis=1).max()
    assert length > tried**0.25 * np.sqrt(900 / 2.25)
    assert length < 1.5 * tried**0.25 * np.sqrt(900 / 2.25)
    assert window_of(model, 2.25) == np.ceil(length)
    assert discount_of(model, 2.25) == pytest.approx(1.0 - 1.0 / length)
    assert drift_of(model, 2.25) == pytest.approx(2.0 / np.ceil(length))
    assert memory_length(model, 4 * 2.25) == pytest.approx(length / 2)
    assert window_of(model, 1e-9) == 900
    assert window_of(model, 1e9) == 2


def test_the_width_of_the_experiments_is_the_papers():
    width = LogarithmicWidth()(np.array([1, 10]), np.zeros(2))
    np.testing.assert_allclose(width, np.sqrt([0.8 * np.log(4.0), 0.8 * np.log(40.0)]))


def test_defaults_are_one_a_trial_where_the_noise_differs():
    noise = np.array([0.02, 0.3])
    options = {"arms": unit_grid(30), "horizon": 200, "kernel": make_kernel("matern52")}
    together = window_of(Model.of(Setting(**options, noise_std=noise)), 1.0)
    alone = [window_of(Model.of(Setting(**options, noise_std=each)), 1.0) for each in noise]
    np.testing.assert_array_equal(together, alone)
    assert together[0] > together[1]


# Change points

GRID = np.linspace(0.0, 5.0, 100)[:, None]


def changing(horizon=240, change_points=(120,), **laws):
    kernel = make_kernel("matern52", 1.0)
    laws = {"noise": Gaussian(0.05), "changes": changes.AtRounds(change_points), **laws}
    return Problem(Decisions(GRID), GPSample(), kernel, horizon=horizon, **laws)


def actions_of(environment, trials=4, **named):
    return evaluate(environment, named, trials=trials).actions


def test_without_forced_exploration_it_is_gp_ucb():
    actions = actions_of(
        changing(),
        zero=("gp-ucb-no-detector", {"xi_squared": 0}),
        plain=("gp-ucb", {"width": "change-point"}),
        three="gp-ucb-no-detector",
    )
    np.testing.assert_array_equal(actions["zero"], actions["plain"])
    assert not np.array_equal(actions["three"], actions["plain"])


def test_the_width_is_equation_3_7_of_the_plays_before():
    width = ChangePointWidth(horizon=1200, dim=1, smoothness=2.5, constant=0.02)
    found = width(np.array([1, 2, 101]), np.zeros(3))
    beta = 0.02 * np.array([0.0, 1.0, 100.0 ** (2 / 7)]) * math.log(1200) ** 4
    np.testing.assert_allclose(found, np.sqrt(beta))


def test_the_theory_reading_assumes_the_noise_of_the_paper():
    env = BanditEnv(changing(horizon=1200))
    model = agents.make("gp-ucb-cpd", env, reading="theory").model
    assert model.noise_variance == pytest.approx(6 * 0.05**2 * math.log(1200))


@pytest.mark.long
def test_uniform_rounds_are_uniform_over_the_arms():
    agent = started(agents.make("gp-ucb-no-detector", on_a_line(4, horizon=4), num_trials=4000), range(4000))
    zeros = observation = np.zeros((4000, 1))
    info = {"feedback_mask": zeros == 0, "feedback_step": zeros.astype(int), "feedback_reward": zeros}
    agent.update(observation, agent.act(observation), None, info)
    counts = np.bincount(agent.act(observation), minlength=4)  # knows something, and plays any arm
    assert np.abs(counts - 1000).max() < 4 * np.sqrt(4000 * 3 / 16)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("laws", [{}, {"delay": delays.PoissonDelay(4.0)}], ids=["now", "late"])
@pytest.mark.parametrize("name", ["gp-ucb-cpd", "gp-ucb-oracle"])
def test_a_batch_whose_trials_start_over_at_different_times_equals_the_trials_alone(name, laws):
    batch_as_singles(changing(**laws), (name, {"theta": 0.5} if name == "gp-ucb-cpd" else {}), 4)
