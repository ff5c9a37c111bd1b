"""Agents that keep constraints on sets and boxes: scores, slopes, first plays and what they find."""

import numpy as np
import pytest
from baseline_cases import NOWHERE, SETTING, feedback
from baseline_cases import play as play_arms
from players import started as begun
from scipy.optimize import approx_fprime
from sklearn.gaussian_process.kernels import Matern

import agents
from agents.algorithms.constrained import constrained_ei
from agents.beliefs.points import Pairs
from agents.beliefs.safety import INFEASIBLE, log_feasibility, log_feasibility_slopes
from agents.beliefs.surface import Surface
from agents.box import AtPoints
from agents.widths.bounded_norm import ImprovedWidth
from bandit_envs import Setting
from bandit_envs.problem.decisions import unit_grid
from bandit_envs.problem.feedback import delivery

HERE = np.zeros(1)
GRID = unit_grid(12**2, 2)
COMMON = {
    "kernel": Matern([0.3, 0.4], nu=2.5),
    "noise_std": 0.05,
    "num_constraints": 2,
    "constraint_noise_std": 0.02,
}
LATE = {**COMMON, "horizon": 30, "max_delay": 3}
BOX = Setting(low=np.zeros(2), high=np.ones(2), **LATE)


def reward(x):
    return np.sin(5.0 * x[0]) + x[1]


def costs(x):
    return np.array([x[0] + x[1] - 1.1, 0.3 - x[1]])


def play(agent, rounds=20, delay=0, seed=0, more=0.0, reward=reward):
    """Play rounds whose noisy feedback comes after `delay`, at costs raised by so much; return the points."""
    rng = np.random.default_rng(seed)
    played, outcome = [], []
    for t in range(rounds):
        action = agent.act(HERE)
        x = agent.setting.to_point(action)
        played.append(x)
        outcome.append([reward(x) + 0.05 * rng.normal(), *(more + costs(x) + 0.02 * rng.normal(size=2))])
        due = np.array([t - delay] if t >= delay else [], dtype=np.int64)
        values = np.array([outcome[s] for s in due.tolist()]).reshape(-1, 3)
        told = delivery(t, due, values[:, 0], values[:, 1:], agent.setting.max_delay)
        agent.update(HERE, action, 0.0, told)
    return np.array(played)


def started(setting=BOX, **options):
    agent = agents.make("constrained-ei", setting, **options)
    agent.reset(3)
    return agent


@pytest.mark.parametrize("delay", [0, 2])
@pytest.mark.parametrize("hallucinate", [False, True])
def test_a_box_restricted_to_grid_points_plays_as_the_finite_set(delay, hallucinate):
    finite = started(Setting(arms=GRID, **LATE), hallucinate=hallucinate)
    box = started(search=AtPoints(GRID), hallucinate=hallucinate)
    np.testing.assert_allclose(play(box, delay=delay), play(finite, delay=delay), atol=1e-12)
    best = [agent.recommend() for agent in (box, finite)]
    np.testing.assert_allclose(best[0].point, best[1].point, atol=1e-12)
    np.testing.assert_allclose([best[0].mean, best[0].std], [best[1].mean, best[1].std], atol=1e-9)


class Surveyed(AtPoints):
    """Keeps the acquisition surface of its latest round."""

    def __call__(self, unit_surface, rng):
        object.__setattr__(self, "acquisition", unit_surface.acquisition)
        return super().__call__(unit_surface, rng)


@pytest.mark.parametrize("feasible", [True, False])
@pytest.mark.parametrize("pending", [0, 2])
def test_slopes_are_those_of_finite_differences(feasible, pending):
    search = Surveyed(GRID)
    agent = started(hallucinate=True, search=search)
    play(agent, delay=pending, more=0.0 if feasible else 2.0)
    agent.act(HERE)
    at = np.random.default_rng(1).random((6, 2))
    scores, slopes = search.acquisition.climb(at)
    np.testing.assert_allclose(scores, search.acquisition.scores(at), rtol=1e-12)
    assert (search.acquisition._facts.incumbent[0] > INFEASIBLE / 2) == feasible
    for x, slope in zip(at, slopes, strict=True):
        expected = approx_fprime(x, lambda p: search.acquisition.scores(p[None])[0], 1e-7)
        np.testing.assert_allclose(slope, expected, rtol=1e-4, atol=1e-4 * np.abs(scores).max())


def test_where_nothing_is_feasible_the_least_infeasible_is_recommended():
    agent = started()
    for t in range(12):
        action = agent.act(HERE)
        x = BOX.to_point(action)
        row = np.array([[0.2 + x[0], -1.0]])
        agent.update(HERE, action, 0.0, delivery(t, np.array([t]), np.array([x[1]]), row, 3))
    assert agent.recommend().point[0] < 0.05
    assert agent.recommend(among=np.array([[0.9, 0.9], [-1.0, 0.0]])).action[0] == -1.0


def test_without_a_feasible_play_the_probability_of_feasibility_is_maximised_alone():
    agent = play_arms(
        begun(constrained_ei(SETTING)), lambda x: x[0], lambda x: np.array([1.0 + x[0], 2.0]), 10
    )
    _, *costs = agent.beliefs(NOWHERE)
    expected = sum(log_feasibility(*cost) for cost in costs)
    agent.act(NOWHERE)
    assert np.ptp(agent.scores[0] - expected) < 1e-6  # of probabilities that differ by a factor of e^7
    assert np.ptp(expected) > 1.0


def test_first_plays_that_come_late_still_centre_and_scale():
    on_time, late = begun(constrained_ei(SETTING, initial=4)), begun(constrained_ei(SETTING, initial=4))
    arms, rewards = np.array([3, 9, 20, 28]), np.array([1.0, 4.0, 2.0, 7.0])
    costs = np.column_stack([rewards - 3.0, -rewards])
    for t, arm in enumerate(arms):
        on_time.update(NOWHERE, arm, 0.0, feedback(rewards[t : t + 1], costs[t : t + 1], [t]))
        late.update(NOWHERE, arm, 0.0, feedback([], np.zeros((0, 2)), np.zeros(0, dtype=int)))
    late.update(NOWHERE, 0, 0.0, feedback(rewards, costs, range(4)))
    np.testing.assert_allclose(on_time.objective.centre, [[3.5, 0.5, -3.5]])
    np.testing.assert_allclose(late.beliefs(NOWHERE), on_time.beliefs(NOWHERE), atol=1e-12)


def test_slopes_of_feasibility_have_their_leading_terms_at_the_extremes():
    far = np.array([1e3, 1e5, 1e7, 1e8, 1e9, 1e10, 1e100])
    for sign, ratio in ((1.0, far + 1.0 / far), (-1.0, 0.0 * far)):
        of_mean, of_std = log_feasibility_slopes(sign * far, np.ones(7))
        np.testing.assert_allclose(of_mean, -ratio, rtol=1e-11)
        np.testing.assert_allclose(of_std, far * ratio, rtol=1e-11)


def test_certain_costs_are_feasible_or_not_and_have_no_slopes():
    certain = np.array([0.0, -1.0, 1.0]), np.zeros(3)
    np.testing.assert_array_equal(log_feasibility(*certain), [0, 0, -np.inf])
    np.testing.assert_array_equal(log_feasibility_slopes(*certain), np.zeros((2, 3)))


# --- penalised objectives, of one model or of separate ones ---

COARSE = unit_grid(10**2, 2)
WIDE = Setting(low=np.zeros(2), high=np.ones(2), horizon=60, **COMMON)
FINITE = Setting(arms=COARSE, horizon=60, **COMMON)


def steep(x):
    return 40.0 + 5.0 * np.sin(5.0 * x[0]) + x[1]


def penalised(setting, **options):
    agent = agents.make("gp-ucb-noisy-constraints", setting, **options)
    agent.reset(5)
    return agent


def objective_of(agent, x):
    """W0 f - sum_j w_j g_j without noise."""
    weights = agent.objective.multipliers.weights
    return weights.reward[0] * steep(x) - weights.cost[0] @ costs(x)


@pytest.mark.parametrize("models", ["penalised", "separate"])
def test_a_penalised_box_restricted_to_grid_points_plays_as_the_finite_set(models):
    finite, box = penalised(FINITE, models=models), penalised(WIDE, models=models, search=AtPoints(COARSE))
    np.testing.assert_allclose(play(box, 45, reward=steep), play(finite, 45, reward=steep), atol=1e-12)
    at = FINITE.to_action(COARSE[:30])
    best = [box.recommend(among=WIDE.to_action(COARSE[:30])), finite.recommend(among=at)]
    np.testing.assert_allclose(best[0].point, best[1].point, atol=1e-12)
    if models == "separate":
        np.testing.assert_allclose(best[0][2:], best[1][2:], atol=1e-8)


def test_separate_models_score_a_point_of_a_box_by_their_formula():
    agent = penalised(WIDE, models="separate", search={"candidates": 32})
    play(agent, 25, reward=steep)
    objective, at = agent.objective, np.random.default_rng(0).random((6, 2))
    scores = np.random.default_rng(1).normal(size=6)
    weights = objective.multipliers.weights
    expected = weights.reward[0] * (objective.centre[0, 0] + objective.scale[0, 0] * scores)
    for j, belief in enumerate(objective.costs):
        mean, std = Surface.of(belief).predict(at)
        centre, scale = objective.centre[0, 1 + j], objective.scale[0, 1 + j]
        band = ImprovedWidth(agent.model.rkhs_bound, 0.02 / scale, delta=objective.widths[j].delta)
        width = band(agent.t, belief.gain)
        expected -= weights.cost[0, j] * (centre + scale * (mean - width * std))
    found = objective.penalised(scores[None], Pairs(np.empty(0), at), agent.t)[0]
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("setting", [FINITE, WIDE], ids=["finite", "box"])
def test_a_penalised_model_recommends_by_its_objective_and_no_mean_of_the_reward(setting):
    agent = penalised(setting, **({"search": {"candidates": 64}} if setting is WIDE else {}))
    play(agent, 45, reward=steep)
    best = agent.recommend()
    assert best.mean is best.std is None
    assert objective_of(agent, best.point) >= max(objective_of(agent, x) for x in COARSE) - 1.0  # of 10
