"""What running plays tell of prices: their bounds, the posterior under them, and the choice of the agent."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

import agents
from agents.real.posterior import SurrogatePosterior
from agents.real.priors import Parameters, cost_prior
from agents.real.running import RunningTimes, at_least
from agents.real.surrogate import PointValues, Surrogate
from bandit_envs import Setting
from bandit_envs.problem.feedback import delivery

DRAWS = norm.ppf((np.arange(200_000) + 0.5) / 200_000)
DELAYS = [1, 2, 4, 7]


def times(prices) -> RunningTimes:
    found = RunningTimes(max_delay=20)
    for price, delay in zip(prices, DELAYS, strict=False):
        found.add(price, delay)
    return found


def test_a_play_costs_at_least_what_it_took_where_prices_are_proportional_to_delays():
    found = times([3.0, 5.0, 9.0, 15.0]).least_prices(np.array([0, 10, 21, 90]))
    assert found is not None
    np.testing.assert_allclose(found, [1.0, 21.0, 43.0, 43.0])  # later than 20 rounds feedback is lost


@pytest.mark.parametrize(
    "prices",
    [[3.0, 5.0], [2e6, 2e6, 2e6 * (1.0 + 3e-16)], [9.0, 5.0, 3.0, 1.0], [0.0, 5.0, 9.0, 15.0]],
)
def test_few_plays_equal_prices_other_prices_and_free_plays_tell_nothing(prices):
    assert times(prices).least_prices(np.array([3])) is None


def test_without_running_plays_there_are_no_bounds():
    assert times([3.0, 5.0, 9.0, 15.0]).least_prices(np.array([], dtype=np.int64)) is None


@pytest.fixture
def posterior() -> SurrogatePosterior:
    """Posterior of three values on eleven points of [0, 1]."""
    parameters = Parameters.of_numbers(np.linspace(0.0, 1.0, 11)[:, None])
    prior, one = cost_prior(parameters), np.ones(3)
    seen = PointValues(np.array([0, 1, 2]), one, np.array([-0.5, 0.0, 0.4]), 0.0 * one, one)
    return SurrogatePosterior(Surrogate(parameters, prior), prior.centre, seen)


def test_a_bounded_value_is_the_mean_of_those_above_the_bound(posterior):
    found = at_least(posterior, np.array([8, 8]), np.array([-1.0, 1.5]))  # the longer play counts
    at = posterior.at(np.array([8]))
    noise = posterior.surrogate.noise(posterior.theta)
    values = at.mean + np.sqrt(at.known + noise) * DRAWS
    assert found.seen.point.tolist() == [0, 1, 2, 8]
    assert found.seen.mean[-1] == pytest.approx(values[values >= 1.5].mean(), abs=1e-3)
    assert found.at(np.array([9])).mean > posterior.at(np.array([9])).mean


def test_values_that_were_delivered_and_bounds_far_below_change_nothing(posterior):
    far = posterior.at(np.array([8])).mean.item() - 9.0
    assert at_least(posterior, np.array([1, 8]), np.array([5.0, far])) is posterior


def test_a_bound_far_above_is_the_value(posterior):
    found = at_least(posterior, np.array([8]), np.array([60.0]))
    assert found.seen.mean[-1] == pytest.approx(60.0, abs=0.1)


@pytest.mark.parametrize("proportional", [True, False])
def test_a_dear_play_that_still_runs_is_not_repeated(proportional):
    """Rewards grow with the arm, and what was delivered says that prices hardly do."""
    setting = Setting(arms=np.linspace(0.0, 1.0, 11)[:, None], horizon=120, max_delay=119, budget=40.0)
    agent = agents.make("gp-agent", setting)
    agent.reset(0)
    played, delays = [0, 1, 2, 3, 4, 10], np.array([2, 3, 2, 3, 2])
    prices = (delays if proportional else 5 - delays) + 0.5
    for t in range(60):
        done = np.flatnonzero(np.arange(5) + delays == t)
        no_limits = np.empty((len(done), 0))
        info = delivery(t, done, 1.0 + done / 2.0, no_limits, 119, spent=0.1 * prices[done])
        agent.update(np.zeros(1), played[t] if t < len(played) else 0, 0.0, info)
    assert (agent.act(np.zeros(1)) == 10) is not proportional
