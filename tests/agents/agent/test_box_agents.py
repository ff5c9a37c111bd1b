"""On a box the same parts play: beliefs anywhere, slopes, searches, and the named algorithms."""

import pickle

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, Matern

import agents
from agents.acquisition.rules import (
    UCB,
    ExpectedImprovement,
    PosteriorMean,
    PosteriorVariance,
    ProbabilityOfImprovement,
    Starting,
    Thompson,
)
from agents.agent.box_agent import BoxAgent
from agents.agent.nearest_arm import NearestArm
from agents.beliefs.surface import Surface
from agents.box import AtPoints, Lattice, QuasiRandom
from agents.box.incumbents import BestPlays
from agents.box.landscape import BoxView, Landscape
from agents.box.path import Path
from agents.box.search import Stacked, Terrain, sobol
from agents.kernels.visited import Visited, VisitedGram
from agents.posteriors import SufficientStatistics
from agents.posteriors.play_factor import PlayFactor
from agents.widths.fixed import FixedWidth
from bandit_envs import Setting
from bandit_envs.kernels.kernels import OnColumns
from bandit_envs.problem.decisions import unit_grid
from bandit_envs.problems import build
from gpbandits import check_agent, evaluate

KERNEL = ConstantKernel(1.7) * Matern([0.4, 0.7], nu=2.5)
NOISE = 0.01
HERE = np.zeros(1)
RULES = {
    "UCB": UCB(FixedWidth(1.3)),
    "EI": ExpectedImprovement(0.1),
    "PI": ProbabilityOfImprovement(0.1),
    "mean": PosteriorMean(),
    "deviation": PosteriorVariance(),
    "first rounds": Starting(3, PosteriorVariance(), UCB(FixedWidth(1.3))),
    "later rounds": Starting(2, PosteriorVariance(), UCB(FixedWidth(1.3))),
}
# The others keep the rules on boxes in the tests of `check_agent`.
CONSTRAINED = [
    name for name in agents.names() if agents.features(name).box and agents.features(name).constraint
]


def plays(count=12, seed=0, dim=2):
    rng = np.random.default_rng(seed)
    x = rng.random((count, dim))
    return x, np.sin(5.0 * x.sum(axis=1)) + 0.1 * rng.normal(size=count)


def factor_of(x, y, kernel=KERNEL, noise=NOISE):
    visited = Visited(x.shape[1])
    factor = PlayFactor(
        VisitedGram(kernel, visited), noise, SufficientStatistics(np.empty(0, int), np.empty(0), np.empty(0))
    )
    for point, value in zip(x, y, strict=True):
        factor.append(visited.index(point), float(value))
    return factor


def surface_of(x, y, kernel=KERNEL, mean=0.0):
    factor = factor_of(x, y - mean, kernel)
    return Surface(kernel, factor, factor, mean)


def landscape_of(rule, surface, age=3, rng=None):
    nothing = np.empty((1, 0))
    facts = BoxView(
        nothing,
        nothing,
        np.array([age]),
        np.zeros(1),
        0.2,
        np.array([0.3]),
        lambda: nothing,
        lambda: nothing,
        list,
    )
    return Landscape(rule, surface, np.empty(0), facts, rng or np.random.default_rng(0))


def feed(agent, value_of, rounds, observation=HERE):
    """Play rounds whose feedback comes at once; return the actions."""
    actions = []
    for t in range(rounds):
        action = agent.act(observation)
        info = {
            "feedback_mask": np.array([True]),
            "feedback_step": np.array([t]),
            "feedback_reward": np.array([value_of(agent.setting.to_point(action))]),
        }
        agent.update(observation, action, 0.0, info)
        actions.append(action)
    return actions


# What is believed anywhere


def test_the_surface_is_scikit_learns_regression():
    x, y = plays()
    x, y = np.vstack([x, x[:4]]), np.concatenate([y, y[:4] + 0.2])  # some points twice
    raw = GaussianProcessRegressor(KERNEL, alpha=NOISE, optimizer=None).fit(x, y)
    at = np.random.default_rng(1).random((20, 2))
    mean, std = surface_of(x, y).predict(at)
    expected_mean, expected_std = raw.predict(at, return_std=True)
    np.testing.assert_allclose(mean, expected_mean, atol=1e-9)
    np.testing.assert_allclose(std, expected_std, atol=1e-9)


def test_late_corrections_move_the_surface_as_if_they_had_come_in_time():
    x, y = plays()
    late = factor_of(x, np.zeros(len(y)))
    for i, value in enumerate(y.tolist()):
        late.correct(i, value)
    at = np.random.default_rng(1).random((9, 2))
    expected = surface_of(x, y).predict(at)
    found = Surface(KERNEL, late, late, 0.0).predict(at)
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_points_are_the_same_only_if_they_are_equal():
    visited = Visited(2)
    numbers = [
        visited.index(np.array(p)) for p in ([0.5, 0.5], [0.5, 0.5 + 1e-17], [0.5 + 1e-12, 0.5], [-0.0, 0.0])
    ]
    assert numbers == [0, 0, 1, 2]
    assert visited.index(np.array([0.0, 0.0])) == 2
    grown = [visited.index(np.array([i / 7.0, 2.0])) for i in range(200)]
    assert grown == list(range(3, 203))
    np.testing.assert_array_equal(visited.features[3:, 0], np.arange(200) / 7.0)


@pytest.mark.parametrize("kernel", [KERNEL, RBF(0.5) * Matern(0.3, nu=1.5) + DotProduct(0.2), RBF(0.2) ** 2])
@pytest.mark.parametrize("rule", RULES.values(), ids=RULES.keys())
def test_slopes_of_scores_are_those_of_finite_differences(rule, kernel):
    x, y = plays()
    landscape, step = landscape_of(rule, surface_of(x, y, kernel, mean=0.4)), 1e-6
    at = np.random.default_rng(2).random((7, 2))
    scores, slopes = landscape.climb(at)
    np.testing.assert_array_equal(scores, landscape.scores(at))
    for j, shift in enumerate(step * np.eye(2)):
        change = (landscape.scores(at + shift) - landscape.scores(at - shift)) / (2 * step)
        np.testing.assert_allclose(slopes[:, j], change, rtol=1e-4, atol=1e-5 * np.abs(scores).max())


def test_a_mean_and_a_deviation_of_different_plays_have_the_right_slopes():
    x, y = plays()
    surface = Surface(KERNEL, factor_of(x[:7], y[:7]), factor_of(x, 0.0 * y), 0.0)
    landscape, step = landscape_of(RULES["UCB"], surface), 1e-6
    at = np.random.default_rng(2).random((7, 2))
    _, slopes = landscape.climb(at)
    for j, shift in enumerate(step * np.eye(2)):
        change = (landscape.scores(at + shift) - landscape.scores(at - shift)) / (2 * step)
        np.testing.assert_allclose(slopes[:, j], change, rtol=1e-5, atol=1e-6)


def test_the_stacked_climb_is_the_sum_of_single_ones():
    landscape = landscape_of(RULES["EI"], surface_of(*plays()))
    terrain = Terrain(landscape, np.zeros(2), np.ones(2), np.empty((0, 2)))
    at = np.random.default_rng(3).random((5, 2))
    loss, slopes = Stacked(terrain, at.shape)(at.ravel())
    each = [Stacked(terrain, (1, 2))(row) for row in at]
    np.testing.assert_allclose(loss, sum(value for value, _ in each), rtol=1e-10)
    np.testing.assert_allclose(slopes, np.concatenate([slope for _, slope in each]), rtol=1e-8, atol=1e-12)


# Samples


def test_a_path_in_parts_is_one_joint_sample():
    """Second moments over many draws are the posterior covariance, also between points of different calls."""
    x, y = plays(5)
    surface, draws = surface_of(x, y), 4000
    parts = [np.random.default_rng(4).random((3, 2)), np.random.default_rng(5).random((2, 2))]
    at = np.vstack(parts)
    drawn = np.empty((draws, 5))
    for i in range(draws):
        path = Path(surface, np.random.default_rng(i))
        drawn[i] = np.concatenate([path(part) for part in parts])
    explained = surface.explain(at)
    covariance = KERNEL(at) - explained.T @ explained
    variance = np.diag(covariance)
    error = np.sqrt((np.multiply.outer(variance, variance) + covariance**2) / draws)
    assert (np.abs(drawn.T @ drawn / draws - covariance) < 4.5 * error).all()
    assert (np.abs(drawn.mean(axis=0)) < 4.5 * np.sqrt(variance / draws)).all()


def test_a_path_has_one_value_at_a_point():
    surface = surface_of(*plays(), kernel=RBF(0.3))
    path, at = Path(surface, np.random.default_rng(0)), np.random.default_rng(1).random((40, 2))
    first = path(at)
    np.testing.assert_allclose(path(at[::-1])[::-1], first, atol=1e-3 * np.abs(first).max())


def test_thompson_sampling_searches_one_sample():
    """The pool of a search is one path: its scores follow the smoothness of the process."""
    surface = surface_of(*plays(), kernel=RBF(0.3))
    landscape = landscape_of(Thompson(FixedWidth(1.0)), surface)
    terrain = Terrain(landscape, np.zeros(2), np.ones(2), np.full((1, 2), 0.5))
    pool = QuasiRandom(candidates=64)(terrain, np.random.default_rng(0))
    assert len(pool.unit) > 64 + 100  # it was refined
    best = pool.scores.argmax()
    near = np.abs(pool.unit - pool.unit[best]).max(axis=1) < 0.003
    assert near.sum() > 5
    assert np.ptp(pool.scores[near]) < 0.02  # slopes of draws with length-scale 0.3 are of the order 3
    assert pool.scores[best] > pool.scores[:64].max()  # between the quasi-random points it is higher


# Searches


def test_a_search_finds_the_highest_point_of_a_surface():
    x, y = plays(30)
    landscape = landscape_of(PosteriorMean(), surface_of(x, y))
    terrain = Terrain(landscape, np.zeros(2), np.ones(2), x[np.argsort(-y)[:4]])
    grid = unit_grid(201**2, 2)
    pool = QuasiRandom(candidates=128)(terrain, np.random.default_rng(0))
    assert pool.scores.max() >= landscape.scores(grid).max() - 1e-9


def test_a_search_reaches_the_boundary_exactly():
    x = np.random.default_rng(0).random((20, 2))
    surface = surface_of(x, 3.0 * x[:, 0] - 2.0 * x[:, 1], kernel=ConstantKernel(9.0) * RBF(1.0))
    terrain = Terrain(landscape_of(PosteriorMean(), surface), np.zeros(2), np.ones(2), x[:0])
    pool = QuasiRandom(candidates=64)(terrain, np.random.default_rng(1))
    np.testing.assert_array_equal(pool.unit[pool.scores.argmax()], [1.0, 0.0])


def test_where_nothing_is_known_every_quasi_random_point_is_as_likely():
    surface = surface_of(np.empty((0, 2)), np.empty(0))
    terrain = Terrain(landscape_of(RULES["UCB"], surface), np.zeros(2), np.ones(2), np.empty((0, 2)))
    pool = QuasiRandom(candidates=64)(terrain, np.random.default_rng(0))
    assert len(pool.unit) == 64
    assert np.ptp(pool.scores) == 0.0
    np.testing.assert_allclose(
        np.sort((pool.unit - pool.unit[0]) % 1.0, axis=0)[:, 0], np.sort(sobol(2, 64)[:, 0])
    )


def test_the_lattice_of_theorem_4_has_the_theorems_size_up_to_its_cap():
    lattice = Lattice(bound=2.0, lipschitz=3.0, cap=10_000)
    assert lattice.side(1, 1.5, 2) == 2 * 3 * 1.5 * 1 * 4
    assert lattice.side(2, 1.0, 5) == 100  # (2 * 3 * 2 * 25)^2 = 90,000 is beyond it
    landscape = landscape_of(Thompson(FixedWidth(1.0)), surface_of(*plays()), age=2)
    pool = Lattice(1.0, 1.0, cap=400)(Terrain(landscape, np.zeros(2), np.ones(2), np.empty((0, 2))), None)
    assert len(pool.arms) == 8**2
    np.testing.assert_array_equal(pool.arms.max(axis=0), 1.0)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: QuasiRandom(candidates=0), "candidates"),
        (lambda: QuasiRandom(starts=-1), "starts"),
        (lambda: QuasiRandom(steps=0), "steps"),
        (lambda: Lattice(cap=0), "cap"),
        (lambda: Lattice(bound=0.0), "bound"),
        (lambda: agents.gp_ei(SETTING, search=3), "search"),
        (lambda: agents.gp_ei(SETTING, form="dense"), "form"),
        (lambda: agents.gp_ei(SETTING, prior_mean=np.zeros(2)), "prior_mean"),
        (lambda: agents.gp_ei(SETTING, kernel=RBF([1.0, 1.0, 1.0])), "kernel"),
        (lambda: agents.gp_ucb(SETTING, width="finite-set"), "width"),
        (lambda: agents.igp_ucb(SETTING, gamma="spectral"), "gamma"),
    ],
)
def test_what_cannot_be_is_an_error_that_names_it(make, name):
    with pytest.raises(ValueError, match=name):
        make()


# Agents

SETTING = Setting(low=np.array([-1.0, 0.0]), high=np.array([1.0, 5.0]), horizon=60, noise_std=0.05)


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


@pytest.mark.parametrize("name", CONSTRAINED)
def test_agents_that_handle_constraints_keep_the_rules_on_boxes(name):
    boxes = {"box": build("small-feasible-region", {"horizon": 8, "continuous": True})}
    check_agent(name, boxes, time_limit=120.0)


def test_delays_contexts_and_learning_go_together_on_a_box():
    keywords = {"num_arms": 20, "horizon": 12, "dim": 1, "continuous": True, "num_contexts": 3}
    problem = build("rkhs", keywords | {"delay": {"law": "poisson", "mean": 2}})
    options = {"search": {"candidates": 32, "starts": 2, "steps": 5}, "refit_every": 5}
    check_agent(("gp-bucb", options | {"fit_mean": True}), {"box": problem}, time_limit=120.0)
    check_agent(("gp-ts-sdf", options), {"box": problem}, time_limit=120.0)


def test_the_recommendation_is_the_highest_mean():
    agent = agents.make("gp-ei", SETTING, kernel=RBF([0.5, 1.2]))
    agent.reset(0)
    feed(agent, bump, 25)
    best = agent.recommend()
    np.testing.assert_allclose(best.point, [0.3, 2.0], atol=0.1)
    np.testing.assert_allclose(agent.setting.to_point(best.action), best.point, atol=1e-12)
    mean, std = Surface.of(agent.belief).predict(best.point[None])
    np.testing.assert_allclose([best.mean, best.std], [mean[0], std[0]])
    grid = SETTING.low + (SETTING.high - SETTING.low) * unit_grid(101**2, 2)
    assert best.mean >= Surface.of(agent.belief).mean(grid).max() - 1e-9


def test_contexts_of_no_finite_set_are_observed_as_they_are():
    setting = Setting(
        low=np.zeros(1),
        high=np.ones(1),
        context_low=np.array([-2.0]),
        context_high=np.array([2.0]),
        noise_std=0.01,
    )
    kernel = OnColumns(RBF(1.0), [0]) * OnColumns(RBF(0.3), [1])
    agent = agents.gp_ucb(setting, kernel=kernel, width=1.0)
    agent.reset(0)
    rng = np.random.default_rng(0)
    regret = []
    for t in range(60):
        context = rng.uniform(-2.0, 2.0, 1)
        action = agent.act(context)
        best = 0.5 + 0.2 * context[0]
        value = 1.0 - (setting.to_point(action)[0] - best) ** 2
        info = {
            "feedback_mask": np.array([True]),
            "feedback_step": np.array([t]),
            "feedback_reward": np.array([value]),
        }
        agent.update(context, action, 0.0, info)
        regret.append(1.0 - value)
    assert agent.features.shape == (60, 2)
    assert np.mean(regret[40:]) < 0.1 * np.mean(regret[:10])
    np.testing.assert_allclose(agent.recommend(np.array([1.0])).point, [0.7], atol=0.05)
    with pytest.raises(ValueError, match="observation"):
        agent.act(np.zeros(2))
    with pytest.raises(ValueError, match="observation of a context"):
        agent.recommend()


def test_expected_improvement_on_a_box_improves_on_what_was_played():
    agent = agents.make("gp-ei", SETTING, incumbent="best_value", kernel=RBF([0.5, 1.2]))
    agent.reset(0)
    values = [bump(agent.setting.to_point(action)) for action in feed(agent, bump, 30)]
    none = np.empty(0)
    assert agent.incumbent.value(BestPlays(agent.model.visited, none, none, none), 0.0) == max(values)
    assert max(values) > 0.99


@pytest.mark.parametrize("action", [np.array([2.0, 0.0]), np.array([np.nan, 0.0]), np.zeros(3), "left"])
def test_an_action_that_is_no_point_of_the_box_is_an_error(action):
    agent = agents.gp_ei(SETTING)
    agent.reset(0)
    with pytest.raises(ValueError, match="action must be"):
        agent.update(HERE, action, 0.0, {})


def test_initial_plays_are_spread_over_the_box():
    agent = agents.gp_ei(SETTING, initial=40)
    agent.reset(0)
    actions = np.array(feed(agent, bump, 40))
    assert (np.abs(actions.mean(axis=0)) < 4 / np.sqrt(3 * 40)).all()  # four standard errors of uniform draws
    assert len(np.unique(actions, axis=0)) == 40


@pytest.mark.parametrize(
    ("fresh", "most", "megabytes"), [(0, 900, 32), pytest.param(2, 3200, 256, marks=pytest.mark.long)]
)
def test_many_rounds_with_near_duplicates_stay_sound(fresh, most, megabytes):
    """5,000 plays, (nearly) again or half of them new, at a noise variance of 1e-6: no drift, no growth."""
    rng = np.random.default_rng(0)
    setting = Setting(low=np.zeros(2), high=np.ones(2), horizon=5000, kernel=RBF(0.3), noise_std=1e-3)
    agent = agents.make("pure-exploitation", setting, search={"candidates": 8, "starts": 0})
    agent.reset(0)
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
        info = {
            "feedback_mask": np.array([True]),
            "feedback_step": np.array([t]),
            "feedback_reward": np.array([value]),
        }
        agent.update(HERE, action, value, info)
    factor = agent.belief.centre.factor(0)
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


def test_a_box_agent_is_what_factories_make_of_a_box():
    assert isinstance(agents.gp_ts(SETTING), BoxAgent)
    batch = agents.gp_ts(SETTING, num_trials=3)
    batch.reset([0, 1, 2])
    assert batch.act(np.zeros((3, 1))).shape == (3, 2)


def test_regret_on_a_box_falls_below_that_of_its_grid():
    problem = build("rkhs", {"num_arms": 25, "horizon": 40, "dim": 2, "continuous": True, "noise_std": 0.01})
    agents_ = {"EI": "gp-ei", "largest mean": ("gp-ei", {"incumbent": "max_mean"}), "random": "random"}
    result = evaluate(problem, agents_, trials=3)
    cumulative = {name: regret[:, -1].sum() for name, regret in result.regret.items()}
    for name in ("EI", "largest mean"):
        assert (result.simple_regret[name][:, -1] < 0.02).all()
        assert cumulative[name] < 0.8 * cumulative["random"]
    assert cumulative["largest mean"] < 0.5 * cumulative["random"]


def test_on_a_finite_set_an_agent_for_boxes_plays_and_learns_the_nearest_arm():
    problem = build("gp", {"num_arms": 40, "horizon": 30, "noise_std": 0.05})

    def nearest(setting):
        return NearestArm(agents.gp_ei, setting)

    check_agent(nearest, {"finite": problem}, time_limit=120.0)
    setting = problem.setting()
    agent = nearest(setting)
    agent.reset(0)
    arms = feed(agent, lambda x: -abs(float(x[0]) - 0.5), 20)
    played = agent.agent.features[:, 0]
    np.testing.assert_allclose(np.unique(played), np.unique(setting.arms[arms, 0]), atol=1e-12)
    assert agent.recommend().action in (19, 20)


def test_an_agent_on_a_box_can_be_pickled_in_mid_run():
    agent = agents.gp_ts(SETTING, search={"candidates": 64})
    agent.reset(3)
    feed(agent, bump, 8)
    twin = pickle.loads(pickle.dumps(agent))
    np.testing.assert_array_equal(agent.act(HERE), twin.act(HERE))
