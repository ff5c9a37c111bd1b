"""Constrained expected improvement is what a direct calculation says."""

import numpy as np
from baseline_cases import LINE, NOWHERE, SETTING, feedback, play, started
from scipy import stats
from sklearn.gaussian_process import GaussianProcessRegressor

from agents.acquisition.improvement import log_feasibility
from agents.algorithms.constrained_ei import constrained_ei
from agents.beliefs.surrogates import Prediction
from bandit_envs import Setting
from bandit_envs.kernels.kernels import make_kernel


def test_scores_are_those_of_a_direct_calculation():
    def reward(x):
        return np.sin(5.0 * x[0])

    def cost(x):
        return np.array([x[0] - 0.5, 0.2 - x[0]])

    setting = Setting(arms=LINE, horizon=40, kernel=make_kernel("matern52"), noise_std=0.1, num_constraints=2)
    agent = play(started(constrained_ei(setting, constraint_noise_std=0.05)), reward, cost, 12)
    x = LINE[agent.surrogates.point]
    values = agent.surrogates.outcome
    means, stds = [], []
    for j, noise in enumerate((0.1, 0.05, 0.05)):
        centre, scale = values[:5, j].mean(), values[:5, j].std(ddof=1)
        gp = GaussianProcessRegressor(setting.kernel, alpha=(noise / scale) ** 2, optimizer=None)
        mean, std = gp.fit(x, (values[:, j] - centre) / scale).predict(LINE, return_std=True)
        means.append(centre + scale * mean)
        stds.append(scale * std)
    mean, std = np.array(means), np.array(stds)
    played = np.isin(np.arange(30), agent.surrogates.point)
    feasible = played & (mean[1:] <= 0.0).all(axis=0)
    assert feasible.any()
    gap = mean[0] - mean[0, feasible].max()
    ei = gap * stats.norm.cdf(gap / std[0]) + std[0] * stats.norm.pdf(gap / std[0])
    product = stats.norm.cdf(-mean[1] / std[1]) * stats.norm.cdf(-mean[2] / std[2])
    np.testing.assert_allclose(np.exp(agent.scores(0)), ei * product, rtol=1e-5, atol=1e-12)


def test_without_a_feasible_play_the_probability_of_feasibility_is_maximised_alone():
    agent = play(started(constrained_ei(SETTING)), lambda x: x[0], lambda x: np.array([1.0 + x[0], 2.0]), 10)
    np.testing.assert_array_equal(agent.scores(0), log_feasibility(agent.surrogates.predict(0)))


def test_certain_costs_are_feasible_or_not():
    mean, std = np.array([[0.0, 0.0], [-1.0, 1.0]]), np.zeros((2, 2))
    np.testing.assert_array_equal(log_feasibility(Prediction(mean, std)), [0.0, -np.inf])


def test_first_plays_that_come_late_still_centre_and_scale():
    on_time, late = started(constrained_ei(SETTING, initial=4)), started(constrained_ei(SETTING, initial=4))
    arms, rewards = np.array([3, 9, 20, 28]), np.array([1.0, 4.0, 2.0, 7.0])
    costs = np.column_stack([rewards - 3.0, -rewards])
    for t, arm in enumerate(arms):
        on_time.update(NOWHERE, arm, 0.0, feedback(rewards[t : t + 1], costs[t : t + 1], [t]))
        late.update(NOWHERE, arm, 0.0, feedback([], np.zeros((0, 2)), np.zeros(0, dtype=int)))
    late.update(NOWHERE, 0, 0.0, feedback(rewards, costs, range(4)))
    np.testing.assert_allclose(on_time.surrogates.centre, [3.5, 0.5, -3.5])
    np.testing.assert_allclose(late.surrogates.predict(0), on_time.surrogates.predict(0), atol=1e-12)
