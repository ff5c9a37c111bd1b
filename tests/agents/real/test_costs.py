"""The rule where plays have costs: its parts against draws, and its score against the formula."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from agents.real.horizon import PRICE_NODES, Outlay, exchange, expected_improvement, outlay, scores
from agents.real.posterior import Predicted
from agents.real.surrogate import PointValues
from agents.real.values import Asinh, Logarithm

DRAWS = norm.ppf((np.arange(200_000) + 0.5) / 200_000)


def learnt(values, means):
    ones, zeros = np.ones(len(means)), np.zeros(len(means))
    values.learn(PointValues(np.arange(len(means)), ones, np.array(means), zeros, ones), [])
    return values


def known(mean, variance) -> Predicted:
    return Predicted(np.array(mean), np.array(variance), np.array(variance))


def test_expected_improvement_is_that_of_draws():
    mean, std = np.array([-1.0, 0.5, 2.0]), np.array([0.7, 0.3, 1.5])
    found = expected_improvement(mean - 0.6, std)
    for i in range(3):
        assert found[i] == pytest.approx(np.maximum(mean[i] + std[i] * DRAWS - 0.6, 0.0).mean(), abs=1e-4)
    np.testing.assert_allclose(
        expected_improvement(np.array([-0.6, 1.4]), np.zeros(2)), [0.0, 1.4], atol=1e-9
    )


def test_probabilities_of_limits_multiply_and_violations_add():
    first, second = learnt(Asinh(), [-2.0, 1.0, 9.0]), learnt(Asinh(), [-1.0, 1.0, 3.0])
    one, other = known([-0.5, 0.2], [0.25, 0.09]), known([0.3, -1.0], [0.04, 1.0])
    found = outlay([(first, one), (second, other)], None, 2)
    expected = norm.cdf([1.0, -0.2 / 0.3]) * norm.cdf([-1.5, 1.0])
    np.testing.assert_allclose(found.kept, expected)
    np.testing.assert_allclose(found.excess, first.excess(*one[:2]) + second.excess(*other[:2]))
    np.testing.assert_array_equal([found.price, *found.prices], 1.0)


def test_learnt_prices_have_their_mean_and_their_nodes():
    values = learnt(Logarithm(), [1.0, 2.0, 8.0])
    found = outlay([], (values, known([0.1, -0.4], [0.04, 0.5])), 2)
    np.testing.assert_allclose(found.price, 2.0 * np.exp([0.12, -0.15]))
    nodes = [2.0 * np.exp(np.array([0.1, -0.4]) + stds * np.sqrt([0.04, 0.5])) for stds, _ in PRICE_NODES]
    np.testing.assert_allclose(found.prices, nodes)
    weights = np.array([weight for _, weight in PRICE_NODES])
    assert weights.sum() == pytest.approx(1.0)
    # Three nodes of Gauss and Hermite: exact for the square of the logarithm.
    assert weights @ np.array([stds**2 for stds, _ in PRICE_NODES]) == pytest.approx(1.0)


@pytest.fixture
def costs() -> Outlay:
    price = np.array([1.0, 2.0, 0.5, 4.0])
    kept, excess = np.array([0.9, 0.6, 0.4, 0.99]), np.array([0.1, 0.3, 2.0, 0.0])
    return Outlay(kept, excess, 0.5 * excess, price, [price, 2 * price, price / 2])


def test_rates_are_those_of_the_formula(costs):
    now = np.array([1.0, 3.0, 5.0, 2.0])
    found = exchange(now, costs, budgeted=True)
    gain = now - 1.5 * costs.price  # arm 1 earns most a price among those that keep the limits
    assert (found.rate, found.best, found.price) == (1.5, 0.0, 2.0)
    assert found.violation == pytest.approx(np.maximum(-gain, 0.0).mean() / 0.6)
    free = exchange(now, costs, budgeted=False)
    assert (free.rate, free.best, free.violation) == (0.0, 3.0, pytest.approx(0.75 / 0.6))


def test_the_price_of_violations_is_a_mean_over_the_arms_that_are_spread(costs):
    now = np.array([1.0, 3.0, 5.0, 2.0])
    found = exchange(now, costs, budgeted=False, spread=2)
    assert found.violation == pytest.approx(1.0 / 0.2)  # gaps of 2 and 0, excesses of .1 and .3
    assert found.best == exchange(now, costs, budgeted=False).best


def test_violations_have_a_price_where_every_other_arm_earns_more(costs):
    """A round may then lose nothing, and violations would be free."""
    kept = costs._replace(kept=np.array([0.9, 0.1, 0.0, 0.2]), excess=np.array([0.0, 1.0, 2.0, 0.5]))
    now = np.array([1.0, 3.0, 5.0, 2.0])
    worth = exchange(now, kept, budgeted=False)
    assert worth.violation > 0.0
    assert scores(now, now, np.zeros(4), kept, worth, 0.0).argmax() == 0


def test_scores_are_those_of_the_formula(costs):
    now, mean, std = (
        np.array([1.0, 3.0, 5.0, 2.0]),
        np.array([0.9, 3.1, 4.8, 2.2]),
        np.array([0.5, 0.1, 1.0, 0.7]),
    )
    worth = exchange(now, costs, budgeted=True)
    gains = sum(
        weight * expected_improvement(mean - worth.rate * price - worth.best, std)
        for price, weight in zip(costs.prices, (2 / 3, 1 / 6, 1 / 6), strict=True)
    )
    lost = np.maximum(worth.best - now + worth.rate * costs.price, 0.0)
    expected = -lost - worth.violation * costs.excess + 7.0 * costs.kept * gains
    np.testing.assert_allclose(scores(now, mean, std, costs, worth, 7.0), expected)


def test_where_no_arm_seems_to_keep_the_limits_less_violation_is_looked_for(costs):
    hopeless = costs._replace(kept=np.full(4, 0.001), unsure=np.array([0.0, 0.0, 3.0, 0.0]))
    now = np.array([1.0, 3.0, 5.0, 2.0])
    worth = exchange(now, hopeless, budgeted=False)
    found = scores(now, now, np.ones(4), hopeless, worth, 7.0)
    value = -np.maximum(worth.best - now, 0.0) - worth.violation * hopeless.excess
    assert found[2] == pytest.approx(
        value[2] + 7.0 * np.maximum(value[2] - value.max() + worth.violation * 3.0 * DRAWS, 0.0).mean(),
        abs=1e-3,
    )
    np.testing.assert_allclose(np.delete(found, 2), np.delete(value, 2))


@pytest.mark.parametrize(("mean", "variance"), [(0.4, 0.3), (-0.8, 0.5), (1.5, 0.01), (-0.2, 1.0)])
def test_the_variance_of_a_violation_is_that_of_draws(mean, variance):
    values = learnt(Asinh(), [-2.0, 1.0, 400.0])
    violation = np.maximum(np.sinh(mean + np.sqrt(variance) * DRAWS), 0.0)
    found = values.excess_variance(*(np.array([each]) for each in (mean, variance)))
    assert found[0] == pytest.approx(violation.var(), rel=0.02)


def test_a_violation_that_is_surely_larger_than_any_seen_is_sure():
    values = learnt(Asinh(), [-1.0, 1.0, 4.0])
    assert values.excess_variance(np.arcsinh([8.0]), np.array([1e-6]))[0] < 1e-3


def test_published_prices_are_taken_as_they_are():
    price = np.array([3.0, 0.5])
    found = outlay([], price, 2)
    np.testing.assert_array_equal([found.price, *found.prices], [price] * 4)


def test_where_no_arm_probably_keeps_the_limits_the_likeliest_counts(costs):
    unlikely = costs._replace(kept=np.array([0.1, 0.3, 0.2, 0.05]))
    assert exchange(np.array([1.0, 3.0, 5.0, 2.0]), unlikely, budgeted=False).best == 3.0
