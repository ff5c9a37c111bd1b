"""On a box the named algorithms play as on a finite set, and take and tell points of the box."""

import pickle

import numpy as np
import pytest
from box_cases import HERE, SETTING, feed
from players import at_once, started
from sklearn.gaussian_process.kernels import RBF, Matern

import agents
from agents.agent.box_domain import best_plays
from agents.beliefs.surface import Surface
from agents.box import AtPoints
from agents.posteriors.play_factor import PlayFactor
from bandit_envs import Setting
from bandit_envs.kernels.kernels import OnColumns
from bandit_envs.problem.decisions import unit_grid


def bump(point):
    return float(np.exp(-(((point - [0.3, 2.0]) / [0.4, 1.0]) ** 2).sum()))


GRID = unit_grid(15**2, 2)


@pytest.mark.parametrize("name", ["gp-ucb", "gp-ei", "gp-pi", "pure-exploitation", "igp-ucb", "gp-bucb"])
def test_a_box_restricted_to_grid_points_plays_as_the_finite_set(name):
    kernel = Matern(0.3, nu=2.5)
    common = {"horizon": 30, "kernel": kernel, "noise_std": 0.1, "rkhs_bound": 1.0}
    options = {"gp-ucb": {"width": 2.0}, "gp-ei": {"incumbent": "max_mean"}}.get(name, {})
    finite = agents.make(name, Setting(arms=GRID, **common), **options)
    box = agents.make(
        name, Setting(low=np.zeros(2), high=np.ones(2), **common), search=AtPoints(GRID), **options
    )
    noise = np.random.default_rng(0).normal(size=30)
    played = {}
    for label, agent in {"finite": finite, "box": box}.items():
        agent.reset(5)
        draws = iter(noise)
        actions = feed(agent, lambda x, draws=draws: np.sin(6 * x.sum()) + 0.1 * next(draws), 30)
        played[label] = [agent.setting.to_point(action) for action in actions]
    np.testing.assert_allclose(played["box"], played["finite"], atol=1e-12)


@pytest.mark.long
def test_contexts_of_no_finite_set_are_observed_as_they_are():
    box = {"low": np.zeros(1), "high": np.ones(1), "context_low": np.array([-2.0])}
    setting = Setting(**box, context_high=np.array([2.0]), noise_std=0.01)
    kernel = OnColumns(RBF(1.0), [0]) * OnColumns(RBF(0.3), [1])
    agent, rng, regret = agents.gp_ucb(setting, kernel=kernel, width=1.0), np.random.default_rng(0), []
    agent.reset(0)
    for t in range(60):
        context = rng.uniform(-2.0, 2.0, 1)
        action = agent.act(context)
        regret.append((setting.to_point(action)[0] - 0.5 - 0.2 * context[0]) ** 2)
        agent.update(context, action, 0.0, at_once(t, 1.0 - np.array(regret[-1:])))
    assert agent.features.shape == (60, 2)
    assert np.mean(regret[40:]) < 0.1 * np.mean(regret[:10])
    np.testing.assert_allclose(agent.recommend(np.array([1.0])).point, [0.7], atol=0.05)
    with pytest.raises(ValueError, match="observation"):
        agent.act(np.zeros(2))
    with pytest.raises(ValueError, match="observation of a context"):
        agent.recommend()


def test_in_one_context_plays_are_ordered_by_their_means():
    agent, rng = agents.make("gp-ei", SETTING, kernel=RBF([0.3, 0.5])), np.random.default_rng(0)
    agent.reset(0)
    for t, point in enumerate(rng.uniform(SETTING.low, SETTING.high, (150, 2))):
        value = bump(point) + 0.1 * rng.standard_normal()
        agent.update(HERE, SETTING.to_action(point), value, at_once(t, value))
    surface = Surface.of(agent.belief)
    plays, means = best_plays(agent, surface, np.empty(0))
    assert len(plays.arms) == 150
    assert (np.diff(means) <= 0.0).all()
    np.testing.assert_allclose(means, surface.mean(plays.arms), rtol=0, atol=1e-10)


@pytest.mark.parametrize("action", [np.array([2.0, 0.0]), np.array([np.nan, 0.0]), np.zeros(3), "left"])
def test_an_action_that_is_no_point_of_the_box_is_an_error(action):
    agent = started(agents.gp_ei(SETTING))
    with pytest.raises(ValueError, match="action must be"):
        agent.update(HERE, action, 0.0, {})


@pytest.mark.long
@pytest.mark.parametrize(
    ("fresh", "most", "megabytes"), [(0, 900, 32), pytest.param(2, 3200, 256, marks=pytest.mark.long)]
)
def test_many_rounds_with_near_duplicates_stay_sound(fresh, most, megabytes):
    """5,000 plays, (nearly) again or half of them new, at a noise variance of 1e-6: no drift, no growth."""
    rng = np.random.default_rng(0)
    setting = Setting(low=np.zeros(2), high=np.ones(2), horizon=5000, kernel=RBF(0.3), noise_std=1e-3)
    agent = started(agents.make("pure-exploitation", setting, search={"candidates": 8, "starts": 0}))
    centres = rng.random((60, 2))
    for t in range(5000):
        if t % 250 == 0:
            action = agent.act(HERE)
        elif fresh and t % fresh:
            action = setting.to_action(rng.random(2))
        elif t % 7:
            action = setting.to_action(centres[rng.integers(60)])  # exactly again
        else:
            action = setting.to_action(np.clip(centres[rng.integers(60)] + 1e-9 * rng.normal(size=2), 0, 1))
        value = np.sin(5.0 * setting.to_point(action).sum()) + 1e-3 * rng.normal()
        agent.update(HERE, action, value, at_once(t, value))
    factor = agent.belief.mean_posterior.factor(0)
    distinct = len(np.unique(agent.features, axis=0))
    assert most - 300 < distinct == len(agent.features) < most
    assert factor.used <= 1.65 * distinct + 17
    assert factor.triangle.base.nbytes < megabytes * 2**20
    anew = PlayFactor(factor.gram, factor.noise, factor.statistics)
    at = rng.random((50, 2))
    found, expected = (Surface(setting.kernel, each, each, 0.0).predict(at) for each in (factor, anew))
    np.testing.assert_allclose(found[0], expected[0], atol=1e-7)
    np.testing.assert_allclose(found[1], expected[1], atol=1e-7)
    np.testing.assert_allclose(found[0], np.sin(5.0 * at.sum(axis=1)), atol=0.05)
    assert (found[1] >= 0).all()


@pytest.mark.long
def test_the_recommendation_is_the_highest_mean():
    agent = started(agents.make("gp-ei", SETTING, kernel=RBF([0.5, 1.2])))
    feed(agent, bump, 25)
    best = agent.recommend()
    np.testing.assert_allclose(best.point, [0.3, 2.0], atol=0.1)
    np.testing.assert_allclose(agent.setting.to_point(best.action), best.point, atol=1e-12)
    mean, std = Surface.of(agent.belief).predict(best.point[None])
    np.testing.assert_allclose([best.mean, best.std], [mean[0], std[0]])
    grid = SETTING.low + (SETTING.high - SETTING.low) * unit_grid(101**2, 2)
    assert best.mean >= Surface.of(agent.belief).mean(grid).max() - 1e-9


def test_initial_plays_are_spread_over_the_box():
    agent = started(agents.gp_ei(SETTING, initial=40))
    actions = np.array(feed(agent, bump, 40))
    assert (np.abs(actions.mean(axis=0)) < 4 / np.sqrt(3 * 40)).all()  # four standard errors of uniform draws
    assert len(np.unique(actions, axis=0)) == 40


def test_an_agent_on_a_box_can_be_pickled_in_mid_run():
    agent = started(agents.gp_ts(SETTING, search={"candidates": 64}), 3)
    feed(agent, bump, 8)
    twin = pickle.loads(pickle.dumps(agent))
    np.testing.assert_array_equal(agent.act(HERE), twin.act(HERE))
