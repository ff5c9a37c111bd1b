"""Bandit convex optimisation follows its recursion inside the box."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from baseline_cases import BOX, NOWHERE, feedback, play, started
from sklearn.gaussian_process.kernels import ConstantKernel, Matern

from agents.algorithms.no_model import DEVIATION, MEAN, Probe, bandit_oco
from bandit_envs import Setting
from gpbandits import evaluate

# In the units in which its constants were found.
OF_DISCS = replace(BOX, kernel=ConstantKernel(DEVIATION**2) * Matern(nu=2.5), prior_mean=MEAN)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("points", [1, 2])
def test_the_estimated_gradients_of_a_linear_function_are_unbiased(points):
    rng = np.random.default_rng(0)
    slope, y, radius = np.array([[1.0, -2.0, 0.5], [0.0, 1.0, 3.0]]), np.array([0.1, 0.2, -0.3]), 0.2
    estimates = []
    for _ in range(20_000):
        direction = rng.standard_normal(3)
        probe = Probe(direction / np.linalg.norm(direction), radius, np.full((points, 2), np.nan))
        for k in range(points):
            probe.values[k] = slope @ (y + probe.offset(k)) + 1.0
        estimates.append(probe.gradients)
    error = np.mean(estimates, axis=0) - slope
    assert np.all(np.abs(error) <= 4.0 * np.std(estimates, axis=0) / np.sqrt(len(estimates)))


@pytest.mark.parametrize("points", [1, 2])
def test_y_and_multipliers_follow_the_recursion(points):
    eta, zeta, delta = 0.09, 0.3, 2.0
    agent = started(bandit_oco(OF_DISCS, points=points, eta=eta, zeta=zeta, delta_reg=delta))
    reward, cost = lambda x: -x[0], lambda x: np.array([x[1] - 1.0, 2.0 - x[0]])
    y, lam = agent.y.copy(), np.zeros(2)
    for group in range(10):
        played, seen = [], []
        for k in range(points):
            action = agent.act(NOWHERE)
            x = BOX.to_point(action)
            played.append((action - y) / (zeta / 3.0))
            seen.append(np.concatenate([[-reward(x)], cost(x)]))
            agent.update(NOWHERE, action, 0.0, feedback([reward(x)], [cost(x)], [group * points + k]))
        u = played[0]
        assert np.linalg.norm(u) == pytest.approx(1.0, abs=1e-5)  # actions are float32
        difference = seen[0] if points == 1 else (seen[0] - seen[1]) / 2.0
        slopes = np.outer(2.0 / (zeta / 3.0) * difference, u)
        reach = 1.0 - zeta / 3.0
        descent = slopes[0] + lam[0] * slopes[1] + lam[1] * slopes[2]
        y = np.clip(y - eta / 9.0 * descent, -reach, reach)
        lam = np.maximum(lam + eta * (np.mean(seen, axis=0)[1:] - delta * eta * lam), 0.0)
        np.testing.assert_allclose(agent.y, y, atol=1e-5)
        y = agent.y.copy()  # so that the rounding of actions does not add up
        np.testing.assert_allclose(agent.multiplier, lam, atol=1e-12)


def test_plays_stay_in_the_box_however_large_the_gradients():
    agent = play(started(bandit_oco(OF_DISCS)), lambda x: 1e6 * x.sum(), lambda x: np.ones(2), 1)
    for t in range(1, 40):
        action = agent.act(NOWHERE)
        assert np.abs(action).max() <= 1.0
        assert np.abs(agent.y).max() <= 1.0 - agent.radius
        agent.update(NOWHERE, action, 0.0, feedback([1e6 * action.sum()], [[1.0, 1.0]], [t]))


def test_late_feedback_steps_with_the_direction_of_its_own_round():
    box = {"low": np.zeros(2), "high": np.ones(2), "num_constraints": 1, "max_delay": 5}
    late = started(bandit_oco(Setting(**box, kernel=Matern(nu=2.5))))
    actions = []
    for _ in range(3):
        actions.append(late.act(NOWHERE))
        late.update(NOWHERE, actions[-1], 0.0, feedback([], np.zeros((0, 1)), np.zeros(0, dtype=int)))
    start = late.y.copy()
    late.update(NOWHERE, late.act(NOWHERE), 0.0, feedback([2.0], [[0.0]], [1]))
    moved, direction = late.y - start, actions[1] - start
    cosine = moved @ direction / np.linalg.norm(moved) / np.linalg.norm(direction)
    assert cosine == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("points", [1, 2])
def test_without_a_kernel_it_steps_as_with_that_of_its_first_five_values(points):
    values = np.random.default_rng(0).normal(7.0, 3.0, size=20)
    mean, deviation = values[:5].mean(), values[:5].std(ddof=1)
    kernel = ConstantKernel(deviation**2) * Matern(nu=2.5)
    found = started(bandit_oco(BOX, points=points))
    sizes = [0.1, np.sqrt(np.mean(values[:5] ** 2))]  # of the costs
    facts = {"kernel": kernel, "prior_mean": mean, "constraint_prior_std": sizes, "max_delay": 4}
    told = started(bandit_oco(replace(BOX, **facts), points=points))
    nothing = feedback([], np.zeros((0, 2)), np.zeros(0, dtype=int))
    for t, value in enumerate(values):
        action = found.act(NOWHERE)
        np.testing.assert_allclose(told.act(NOWHERE), action, atol=1e-6)
        found.update(NOWHERE, action, 0.0, feedback([value], [[0.1, value]], [t]))
        rounds = np.arange(5) if t == 4 else np.array([t])  # all at once when the fifth is there
        late = feedback(values[rounds], np.stack([0.1 + 0.0 * rounds, values[rounds]], axis=1), rounds)
        told.update(NOWHERE, action, 0.0, nothing if t < 4 else late)
    assert np.abs(found.y).max() > 0.0
    np.testing.assert_allclose(found.multiplier, told.multiplier, atol=1e-9)


@pytest.mark.long
@pytest.mark.parametrize("points", [1, 2])
def test_bandit_oco_learns_to_satisfy_the_constraint_of_a_box(points):
    specs = {"oco": partial(bandit_oco, points=points), "random": "random"}
    env_id, keywords = "GPBandit-SmallFeasibleRegion-v0", {"continuous": True}
    result = evaluate(env_id, specs, trials=4, env_kwargs=keywords)
    cost = np.maximum(result.costs["oco"][..., 0], 0.0).mean(axis=0)
    assert result.actions["oco"].shape == (4, 350, 2)
    assert np.abs(result.actions["oco"]).max() <= 1.0
    assert cost[-50:].mean() < 0.8 * cost[:50].mean()
    assert cost[-50:].mean() < 0.7 * np.maximum(result.costs["random"], 0.0).mean()
