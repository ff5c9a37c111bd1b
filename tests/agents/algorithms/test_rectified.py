"""CONFIG, RPOL and EPBO: what is proved of them holds round by round, and they are what they say."""

from dataclasses import replace

import numpy as np
import pytest
from rectified_cases import LINE, cost, play, problem, wave

import agents
from agents.beliefs.surface import Surface
from agents.box import AtPoints
from agents.objectives.by_name import APART
from agents.objectives.primal_dual import TOLERANCE
from bandit_envs.laws import delays
from bandit_envs.problem.feedback import delivery
from gpbandits import evaluate

NAMES = ["config", "epbo", "rpol"]
CASES = {name: {} for name in NAMES} | {"epbo": {"rho": 1.0}}
WIDTH, HERE = 3.0, np.zeros(1)
TWO = (cost, lambda x: 0.2 - x[:, 0])
PROBLEMS = {
    "one cost": problem(),
    "two costs": problem(TWO),
    "delay": problem(TWO, delay=delays.PoissonDelay(5)),
}


def holding(run, costs):
    """Trials whose bands hold in all rounds, and f and g at all arms."""
    f, g = wave(LINE), np.array([each(LINE) for each in costs])
    of_reward = (np.abs(run.mean - f) <= WIDTH * run.std).all(axis=(0, 2))
    return of_reward & (np.abs(run.cost_mean - g) <= WIDTH * run.cost_std).all(axis=(0, 2, 3)), f, g


@pytest.mark.sampled(4)
@pytest.mark.parametrize("place", PROBLEMS)
@pytest.mark.parametrize("name", CASES)
def test_regret_and_violation_are_within_the_bands_in_every_round(name, place):
    costs = TWO if place != "one cost" else (cost,)
    run = play(PROBLEMS[place], name, trials=3, **CASES[name])
    held, f, g = holding(run, costs)
    assert held.any()
    best = f[(g <= 0).all(axis=0)].max()
    for i in held.nonzero()[0]:
        rounds, arm = np.arange(len(run.arm)), run.arm[:, i]
        wide = 2 * WIDTH * run.std[rounds, i, arm]
        assert (best - f[arm] <= wide + 1e-9).all()
        of_cost = 2 * WIDTH * run.cost_std[rounds, i, :, arm]
        spare = (wide + f[arm] - best)[:, None] / run.charge[:, i]
        assert (np.maximum(g[:, arm].T, 0.0) <= of_cost + spare + 1e-9).all()


def test_a_very_large_charge_is_an_infinite_one():
    runs = [play(PROBLEMS["two costs"], *each) for each in (("config",), ("epbo",))]
    large = play(PROBLEMS["two costs"], "epbo", rho=1e9)
    np.testing.assert_array_equal(large.arm, runs[0].arm)
    assert not np.array_equal(large.arm, runs[1].arm)


def test_no_charge_is_gp_ucb():
    field = {"free": ("epbo", {"rho": 0.0}), "plain": ("gp-ucb", {"width": WIDTH})}
    played = evaluate(PROBLEMS["one cost"], field, trials=3).actions
    np.testing.assert_array_equal(played["free"], played["plain"])


@pytest.mark.parametrize("place", PROBLEMS)
def test_the_charge_grows_with_the_root_of_time_and_what_violates(place):
    run = play(PROBLEMS[place], "rpol")
    t = np.arange(1, len(run.arm) + 1)[:, None, None]
    assert (run.charge[0] == 1).all()
    assert (run.charge >= np.sqrt(t - 1)).all()
    expected = np.maximum(run.charge[:-1] + run.arrived[:-1], np.sqrt(t[:-1]))
    np.testing.assert_allclose(run.charge[1:], expected, atol=1e-12)


def test_it_starts_over_with_a_trial_that_does():
    every = 20
    options = {"restart": "periodic", "restart_options": {"every": every}}
    run = play(PROBLEMS["delay"], "rpol", **options)
    assert (run.charge[::every] == 1).all()
    assert (run.charge[every - 1 : -1 : every] > 1).all()


@pytest.mark.parametrize("name", NAMES)
def test_an_infeasible_problem_is_declared_and_the_least_violation_played(name):
    run = play(problem(horizon=80), name, lift=1.2)
    lower = np.maximum(run.cost_mean - WIDTH * run.cost_std, 0.0).sum(axis=2)
    np.testing.assert_array_equal(run.infeasible, (lower > 0).all(axis=2))
    assert run.infeasible[-1].all()
    since = run.agent.infeasible_since
    np.testing.assert_array_equal(since, run.infeasible.argmax(axis=0))
    if name == "config":
        (t, i) = run.infeasible.nonzero()
        np.testing.assert_allclose(lower[t, i, run.arm[t, i]], lower[t, i].min(axis=1), atol=1e-8)


LIGHT = {"search": {"candidates": 64}}


@pytest.mark.parametrize("name", NAMES)
def test_a_box_of_the_points_of_a_set_is_played_as_the_set(name):
    setting = PROBLEMS["two costs"].setting()
    box = replace(setting, arms=None, low=np.zeros(1), high=np.ones(1))
    finite, other = started(name, setting), started(name, box, search=AtPoints(LINE))
    for t in range(25):
        arm, action = finite.act(HERE), other.act(HERE)
        x = box.to_point(action)
        np.testing.assert_allclose(x, LINE[arm], atol=1e-6)
        value, costs = wave(x[None]), np.array([[each(x[None])[0] + 1.2 for each in TWO]])
        info = delivery(t, np.array([t]), value, costs, 0)
        finite.update(HERE, arm, value[0], info)
        other.update(HERE, action, value[0], info)
        assert other.infeasible == finite.infeasible
    assert finite.infeasible_since == other.infeasible_since > 0


def test_on_a_box_nothing_is_played_that_cannot_be_feasible():
    box = replace(PROBLEMS["two costs"].setting(), arms=None, low=np.zeros(1), high=np.ones(1))
    agent = started("config", box, **LIGHT)
    for t in range(15):
        action = agent.act(HERE)
        x = box.to_point(action)
        for belief in agent.objective.costs:
            mean, std = Surface.of(belief).predict(x[None])
            assert mean - WIDTH * std <= 2 * TOLERANCE
        costs = np.array([[each(x[None])[0] for each in TWO]])
        agent.update(HERE, action, 0.0, delivery(t, np.array([t]), wave(x[None]), costs, 0))
    assert agent.infeasible_since == -1


def started(name, setting, **options):
    agent = agents.make(name, setting, **options)
    agent.reset(0)
    return agent


@pytest.mark.parametrize("name", APART)
def test_every_cost_has_the_lambda_of_its_own_noise(name):
    setting = replace(PROBLEMS["two costs"].setting(), constraint_noise_std=0.0)
    for given, expected in ((None, 1e-6), (0.5, 0.25), (5.0, 25.0)):
        agent = agents.make(name, setting, constraint_noise_std=given)
        agent.reset(0)
        for belief in agent.objective.costs:
            np.testing.assert_allclose(belief.std_posterior.noise, expected)
    withheld = agents.make(name, replace(setting, constraint_noise_std=None))
    withheld.reset(0)
    for belief in withheld.objective.costs:
        np.testing.assert_allclose(belief.std_posterior.noise, withheld.model.noise_variance)


def test_results_say_when_an_agent_found_the_problem_infeasible():
    sure = {"centre": [0.0, 5.0], "restart": "periodic", "restart_options": {"every": 7}}
    field = {"sure": ("config", sure), "unsure": "config", "blind": "gp-ucb"}
    result = evaluate(PROBLEMS["one cost"], field, trials=3)
    assert set(result.infeasible) == {"sure", "unsure"}
    np.testing.assert_array_equal(result.infeasible["sure"], 0)
    np.testing.assert_array_equal(result.infeasible["unsure"], -1)
    alone = evaluate(PROBLEMS["one cost"], field, trials=1)
    np.testing.assert_array_equal(alone.infeasible["sure"], 0)
