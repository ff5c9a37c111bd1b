"""Statistics against scipy's and against known answers."""

import numpy as np
import pytest
from scipy import stats

from bandit_envs.evaluation.statistics import (
    bootstrap_interval,
    interquartile_mean,
    log_log_slope,
    paired_difference,
    quantile_band,
)


@pytest.fixture
def regret():
    values = np.random.default_rng(0).gamma(2.0, 5.0, size=(30, 4)).cumsum(axis=1)
    assert values.shape == (30, 4)
    return values


def test_the_interval_is_scipys_bca(regret):
    ours = bootstrap_interval(regret, resamples=40_000)
    theirs = stats.bootstrap(
        (regret,), np.mean, axis=0, method="BCa", n_resamples=40_000, rng=np.random.default_rng(1)
    ).confidence_interval
    half_width = (theirs.high - theirs.low) / 2
    # Two independent sets of resamples: each end has a standard error below 1 % of the half width.
    assert (np.abs(ours.low - theirs.low) < 0.05 * half_width).all()
    assert (np.abs(ours.high - theirs.high) < 0.05 * half_width).all()
    np.testing.assert_allclose(ours.estimate, regret.mean(axis=0))


def test_the_interval_of_many_normal_trials_is_the_normal_interval():
    values = np.random.default_rng(2).normal(3.0, 2.0, size=4000)
    estimate, low, high = bootstrap_interval(values)
    half_width = 1.96 * values.std(ddof=1) / np.sqrt(len(values))
    np.testing.assert_allclose(
        [low, high], [estimate - half_width, estimate + half_width], atol=0.1 * half_width
    )


def test_intervals_cover_the_mean_of_skewed_trials():
    values = np.random.default_rng(3).exponential(size=(40, 1000))
    _, low, high = bootstrap_interval(values, resamples=1000)
    coverage = ((low <= 1) & (high >= 1)).mean()
    assert 0.91 < coverage < 0.97


def test_columns_are_treated_by_themselves(regret):
    together = bootstrap_interval(regret)
    alone = [bootstrap_interval(column) for column in regret.T]
    np.testing.assert_allclose(together, np.array(alone).T, rtol=1e-12)


def test_many_columns_are_done_in_blocks_with_the_same_resamples(regret):
    wide = np.tile(regret, (1, 100))
    np.testing.assert_allclose(bootstrap_interval(wide).high, np.tile(bootstrap_interval(regret).high, 100))


def test_the_same_seed_gives_the_same_interval(regret):
    np.testing.assert_array_equal(bootstrap_interval(regret, seed=5), bootstrap_interval(regret, seed=5))
    assert (bootstrap_interval(regret, seed=5).low != bootstrap_interval(regret, seed=6).low).all()


def test_equal_trials_have_an_interval_of_no_width():
    np.testing.assert_allclose(bootstrap_interval(np.full((7, 2), 0.1)), 0.1, rtol=1e-12)


def test_one_trial_has_no_interval():
    estimate, low, high = bootstrap_interval(np.array([[1.0, 2.0]]))
    np.testing.assert_array_equal(estimate, [1.0, 2.0])
    assert np.isnan([low, high]).all()


def test_a_missing_value_makes_its_column_missing(regret):
    regret[0, 0] = np.nan
    interval = np.array(bootstrap_interval(regret))
    assert np.isnan(interval[:, 0]).all()
    assert np.isfinite(interval[:, 1:]).all()


def test_pairing_removes_what_the_trials_share():
    rng = np.random.default_rng(4)
    shared = rng.normal(size=50) * 100
    difference = paired_difference(shared + 1, shared + rng.normal(size=50) * 0.1)
    assert 0.9 < difference.low < 1 < difference.high < 1.1


def test_slope_of_a_power_is_its_exponent():
    rounds = np.arange(1, 1001)
    scale = np.random.default_rng(5).uniform(1, 2, size=(10, 1))
    slope = log_log_slope(scale * rounds**0.5, rounds, window=(10, 1000))
    np.testing.assert_allclose(slope, 0.5, rtol=1e-10)


@pytest.mark.parametrize(
    "rounds", [np.arange(1, 10_001), np.unique(np.geomspace(1, 10_000, 200).astype(int))]
)
def test_slope_weighs_stretches_of_the_logarithm_alike_whatever_the_spacing(rounds):
    curve = np.minimum(rounds, 100.0 * (rounds / 100) ** 0.2)  # slopes 1 and 0.2, two decades each
    slope = log_log_slope(np.tile(curve, (2, 1)), rounds, window=(1, 10_000), resamples=10)
    # On an even logarithmic axis least squares gives the mean of the two slopes, by symmetry.
    assert slope.estimate == pytest.approx(0.6, abs=0.01)


def test_slope_interval_holds_the_true_exponent():
    rounds = np.arange(1, 301)
    steps = np.random.default_rng(6).exponential(size=(40, 300)) * np.diff(np.sqrt(rounds), prepend=0)
    _, low, high = log_log_slope(steps.cumsum(axis=1), rounds, window=(30, 300))
    assert low < 0.5 < high
    assert high - low < 0.2


def test_band_and_interquartile_mean_of_known_values():
    values = np.arange(101.0)
    np.testing.assert_allclose(quantile_band(values), [50, 10, 90])
    assert interquartile_mean(np.array([-1e9, 1.0, 3.0, 1e9])) == 2.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bootstrap_interval(np.empty((0, 3))), "at least one trial"),
        (lambda: bootstrap_interval(np.ones(3), level=95), r"level must lie in \(0, 1\), got 95"),
        (lambda: paired_difference(np.ones(3), np.ones(4)), "equal shapes"),
        (lambda: log_log_slope(np.ones((2, 5)), np.arange(1, 6), (5, 9)), "at least two"),
        (lambda: log_log_slope(np.zeros((2, 5)), np.arange(1, 6), (1, 5)), "must be positive"),
    ],
)
def test_bad_input_gives_a_clear_error(call, message):
    with pytest.raises(ValueError, match=message):
        call()
