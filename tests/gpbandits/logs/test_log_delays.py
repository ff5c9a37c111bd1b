"""Rewards that are not delivered when the log is closed are no zeros."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from references import logs as references

from gpbandits.logs import PlayLog, value_of
from gpbandits.logs.estimators import DELAYS, delivery_weights, of_delays

pytestmark = pytest.mark.filterwarnings("ignore::gpbandits.logs.LogWarning")
delays = st.lists(st.tuples(st.integers(0, 9), st.booleans()), min_size=1, max_size=30)


@given(delays.filter(lambda rows: any(delivered for _, delivered in rows)))
def test_weights_are_the_falls_of_the_product_limit_estimate(rows):
    delay, delivered = map(np.array, zip(*rows, strict=True))
    expected = references.kaplan_meier(delay.tolist(), delivered.tolist())
    np.testing.assert_allclose(of_delays(delay.astype(float), delivered), expected, atol=1e-12)


def late(seed: int, depends: bool, n: int = 400) -> PlayLog:
    """Two actions; delays are exponential, and of successes three times as long if they depend on them."""
    rng = np.random.default_rng(seed)
    time = np.arange(n, dtype=float)
    action = rng.integers(2, size=n)
    reward = (rng.random(n) < np.where(action == 1, 0.6, 0.3)).astype(float)
    mean = np.where(depends & (reward == 1.0), 120.0, 40.0)
    delivered = time + rng.exponential(mean)
    there = delivered <= n
    return PlayLog(
        action,
        np.where(there, reward, np.nan),
        np.full(n, 0.5),
        time=time,
        delivered=np.where(there, delivered, np.nan),
        until=float(n),
    )


def test_delivered_rows_count_alike_where_only_these_are_taken():
    log = late(0, depends=True)
    share = log.is_delivered.mean()
    np.testing.assert_allclose(delivery_weights(log, "delivered"), log.is_delivered / share, rtol=1e-12)


@pytest.mark.parametrize("how", DELAYS)
def test_where_everything_is_delivered_all_rows_count_alike(how):
    log = PlayLog([0, 1] * 40, [0.0, 1.0] * 40, [0.5] * 80)
    np.testing.assert_array_equal(delivery_weights(log, how), 1.0)
    np.testing.assert_allclose(DELAYS[how](log), 1.0, atol=1e-12)


def mean_error(how: str, depends: bool) -> tuple[float, float]:
    """Mean error of the value of always playing action 1 over many logs, with its standard error."""
    found = [value_of([0.0, 1.0], late(i, depends), methods=["snips"], delays=how) for i in range(150)]
    errors = np.array([each["snips"].value for each in found]) - 0.6
    return float(errors.mean()), float(errors.std() / np.sqrt(len(errors)))


@pytest.mark.parametrize("how", DELAYS)
def test_both_weights_are_unbiased_where_delays_do_not_depend_on_the_reward(how):
    error, std = mean_error(how, depends=False)
    assert abs(error) < 4.0 * std


def test_weights_of_kaplan_and_meier_are_unbiased_where_successes_take_longer_and_delivered_rows_are_not():
    error, std = mean_error("kaplan-meier", depends=True)
    assert abs(error) < 4.0 * std + 0.01  # delays beyond the oldest row, 4 % of successes, are unknown
    error, std = mean_error("delivered", depends=True)
    assert error < -4.0 * std


def test_a_log_without_deliveries_is_refused():
    log = PlayLog([0, 1], [np.nan] * 2, [0.5] * 2, delivered=[np.nan] * 2)
    with pytest.raises(ValueError, match="one with a delivered reward"):
        value_of([0.5, 0.5], log)
