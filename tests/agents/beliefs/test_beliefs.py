"""Beliefs by themselves: bands, costs of plays, values that are given again, and the surface on a box."""

import numpy as np
import pytest
from box_cases import KERNEL, NOISE, plays, surface_of
from scipy.stats import lognorm
from sklearn.gaussian_process import GaussianProcessRegressor

import agents
from agents.beliefs.delivered import Delivered
from agents.beliefs.safety import CostBand
from agents.kernels.visited import Visited
from agents.model.model import Model
from agents.model.rounds import Delivery
from agents.posteriors.base import SufficientStatistics
from bandit_envs import Setting
from bandit_envs.kernels.kernels import make_kernel


@pytest.mark.parametrize("num_arms", [9, 4096])
@pytest.mark.parametrize("num_trials", [1, 3])
@pytest.mark.parametrize("negative", [False, True])
def test_a_variance_below_zero_counts_as_zero(num_arms, num_trials, negative):
    arms = np.linspace(0.0, 1.0, num_arms)[:, None]
    setting = Setting(arms=arms, horizon=20, kernel=make_kernel("rbf"), noise_std=0.1)
    belief = Delivered(Model.of(setting), num_trials)
    variance = belief.std_posterior.variance
    variance[:, 4] = -1e-17 if negative else 1e-17
    before = variance.copy()
    std = belief.std(np.zeros(num_trials, dtype=np.int64))
    np.testing.assert_array_equal(std, np.sqrt(np.maximum(variance, 0.0)))
    np.testing.assert_array_equal(variance, before)  # the posterior keeps what it has


MEAN, STD = np.array([[-0.7, 0.2, 1.1]]), np.array([[0.3, 0.9, 0.05]])
BAND = CostBand(MEAN, STD, logarithmic=True, least=0.0)


def test_the_expected_cost_and_its_powers_are_those_of_a_lognormal():
    np.testing.assert_allclose(BAND.expected, lognorm.mean(STD, scale=np.exp(MEAN)), rtol=1e-12)
    power = 0.4  # k^-a is lognormal too, of ln k^-a ~ N(-a m, (a s)^2)
    expected = lognorm.mean(power * STD, scale=np.exp(-power * MEAN))
    np.testing.assert_allclose(np.exp(BAND.log_power(np.array([[power]]))), expected, rtol=1e-12)


ARMS = np.linspace(0.0, 1.0, 5)[:, None]
SETTING = Setting(arms=ARMS, horizon=20, kernel=make_kernel("matern52"), noise_std=0.3, prior_mean=0.7)


def test_values_that_are_given_again_change_nothing():
    belief, here = Delivered(Model.of(SETTING), 1), np.zeros(6, dtype=np.int64)
    point, value = np.array([0, 3, 3, 1, 3, 0]), np.random.default_rng(0).normal(size=6)
    belief.receive(Delivery.of_values(here, point, value))
    before = belief.mean(here[:1]).copy()
    count, total = np.bincount(point, minlength=5), np.bincount(point, value, minlength=5)
    belief.revalue(here[:1], lambda _, seen: SufficientStatistics(seen, 1.0 * count[seen], total[seen]))
    np.testing.assert_allclose(belief.mean(here[:1]), before, atol=1e-12)


def test_the_surface_is_scikit_learns_regression():
    x, y = plays()
    x, y = np.vstack([x, x[:4]]), np.concatenate([y, y[:4] + 0.2])  # some points twice
    raw = GaussianProcessRegressor(KERNEL, alpha=NOISE, optimizer=None).fit(x, y)
    at = np.random.default_rng(1).random((20, 2))
    mean, std = surface_of(x, y).predict(at)
    expected_mean, expected_std = raw.predict(at, return_std=True)
    np.testing.assert_allclose(mean, expected_mean, atol=1e-9)
    np.testing.assert_allclose(std, expected_std, atol=1e-9)


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


def test_a_box_without_plays_has_no_stds():
    box = Setting(low=np.zeros(2), high=np.ones(2), horizon=20, kernel=make_kernel("rbf"), noise_std=0.1)
    agent = agents.make("gp-ucb", box)
    agent.reset(0)
    assert [each.shape for each in agent.posterior(np.zeros(1))] == [(0,), (0,)]


def test_costs_are_at_least_what_is_published():
    band = BAND._replace(least=1.5)
    np.testing.assert_array_equal(band.expected, np.maximum(BAND.expected, 1.5))
    assert (band.lower(np.array([2.0])) == 1.5).sum() >= 1
    plain = CostBand(MEAN, STD, logarithmic=False, least=0.0)
    np.testing.assert_array_equal(plain.expected, np.maximum(MEAN, 0.0))
