"""Penalised objectives on boxes, of one model or of separate ones, and recommendations in their units."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import Matern

import agents
from agents.beliefs.points import Pairs
from agents.beliefs.surface import Surface
from agents.box import AtPoints
from agents.widths.bounded_norm import ImprovedWidth
from bandit_envs import Setting
from bandit_envs.problem.decisions import unit_grid
from bandit_envs.problem.feedback import delivery

HERE = np.zeros(1)
GRID = unit_grid(10**2, 2)
COMMON = {
    "horizon": 60,
    "kernel": Matern([0.3, 0.4], nu=2.5),
    "noise_std": 0.05,
    "num_constraints": 2,
    "constraint_noise_std": 0.02,
}
BOX = Setting(low=np.zeros(2), high=np.ones(2), **COMMON)
FINITE = Setting(arms=GRID, **COMMON)
NAME = "gp-ucb-noisy-constraints"


def reward(x):
    return 40.0 + 5.0 * np.sin(5.0 * x[0]) + x[1]


def costs(x):
    return np.array([x[0] + x[1] - 1.1, 0.3 - x[1]])


def play(agent, rounds=45, seed=0):
    rng, played = np.random.default_rng(seed), []
    for t in range(rounds):
        action = agent.act(HERE)
        x = agent.setting.to_point(action)
        played.append(x)
        y = np.array([reward(x) + 0.05 * rng.normal()])
        cost = costs(x) + 0.02 * rng.normal(size=2)
        agent.update(HERE, action, y[0], delivery(t, np.array([t]), y, cost[None], 0))
    return np.array(played)


def started(setting, **options):
    agent = agents.make(NAME, setting, **options)
    agent.reset(5)
    return agent


def objective_of(agent, x):
    """W0 f - sum_j w_j g_j without noise."""
    weights = agent.objective.multipliers.weights
    return weights.reward[0] * reward(x) - weights.cost[0] @ costs(x)


@pytest.mark.parametrize("models", ["penalised", "separate"])
def test_a_box_restricted_to_grid_points_plays_as_the_finite_set(models):
    finite, box = started(FINITE, models=models), started(BOX, models=models, search=AtPoints(GRID))
    np.testing.assert_allclose(play(box), play(finite), atol=1e-12)
    at = FINITE.to_action(GRID[:30])
    best = [box.recommend(among=BOX.to_action(GRID[:30])), finite.recommend(among=at)]
    np.testing.assert_allclose(best[0].point, best[1].point, atol=1e-12)
    if models == "separate":
        np.testing.assert_allclose(best[0][2:], best[1][2:], atol=1e-8)


def test_separate_models_score_a_point_of_a_box_by_their_formula():
    agent = started(BOX, models="separate", search={"candidates": 32})
    play(agent, 25)
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
@pytest.mark.parametrize("setting", [FINITE, BOX], ids=["finite", "box"])
def test_a_penalised_model_recommends_by_its_objective_and_no_mean_of_the_reward(setting):
    agent = started(setting, **({"search": {"candidates": 64}} if setting is BOX else {}))
    play(agent)
    best = agent.recommend()
    assert best.mean is best.std is None
    assert objective_of(agent, best.point) >= max(objective_of(agent, x) for x in GRID) - 1.0  # of 10
