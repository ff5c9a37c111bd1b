"""Statistics against scipy's and against known answers."""

import re

import numpy as np
import pytest
from scipy import stats
from synthetic import result

from gpbandits.evaluation.statistics import (
    ENOUGH,
    FEW,
    bootstrap_interval,
    compare,
    holm,
    interquartile_mean,
    log_log_slope,
    normalised_scores,
    paired_difference,
    paired_ratio,
    performance_profile,
    probability_of_improvement,
    quantile_band,
    sign_flip_test,
    significant_signs,
    skew_notes,
    too_skewed,
    wilson_interval,
)
from gpbandits.evaluation.statistics.pairs import FLIPS
from gpbandits.evaluation.tables import comparison, summary


@pytest.fixture
def regret():
    values = np.random.default_rng(0).gamma(2.0, 5.0, size=(30, 4)).cumsum(axis=1)
    assert values.shape == (30, 4)
    return values


def assert_scipys_bca(ours, samples, statistic, level=0.95):
    """Two independent sets of resamples: each end has a standard error below 1 % of the half width."""
    how = {"paired": True, "vectorized": True, "method": "BCa", "n_resamples": 40_000}
    how["confidence_level"] = level
    found = stats.bootstrap(samples, statistic, axis=0, rng=np.random.default_rng(1), **how)
    low, high = found.confidence_interval
    assert (np.abs(ours.low - low) < 0.05 * (high - low) / 2).all()
    assert (np.abs(ours.high - high) < 0.05 * (high - low) / 2).all()
    np.testing.assert_allclose(ours.estimate, statistic(*samples, axis=0))


@pytest.mark.parametrize("level", [0.95, 0.5])
def test_the_interval_is_scipys_bca(level, regret):
    assert_scipys_bca(bootstrap_interval(regret, level, resamples=40_000), (regret,), np.mean, level)


def test_many_columns_are_done_in_blocks_with_the_same_resamples(regret):
    wide = np.tile(regret, (1, 100))
    np.testing.assert_allclose(bootstrap_interval(wide).high, np.tile(bootstrap_interval(regret).high, 100))


def test_equal_trials_and_a_constant_ratio_have_an_interval_of_no_width(regret):
    np.testing.assert_allclose(bootstrap_interval(np.full((7, 2), 0.1)), 0.1, rtol=1e-12)
    np.testing.assert_allclose(paired_ratio(3 * regret, regret), 3.0)


def test_one_trial_has_no_interval():
    estimate, low, high = bootstrap_interval(np.array([[1.0, 2.0]]))
    np.testing.assert_array_equal(estimate, [1.0, 2.0])
    assert np.isnan([low, high]).all()
    assert np.isnan(log_log_slope(np.arange(1.0, 6)[None], np.arange(1, 6), (1, 5))[1:]).all()


def test_a_missing_value_makes_its_column_missing(regret):
    regret[0, 0] = np.nan
    interval = np.array(bootstrap_interval(regret))
    assert np.isnan(interval[:, 0]).all()
    assert np.isfinite(interval[:, 1:]).all()


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("broken", ["a", "b"])
def test_an_agent_without_finite_regret_is_neither_better_nor_worse(value, broken):
    finals = {"a": np.array([1.0, 3.0, 2.0]), "b": np.array([2.0, 1.0, 4.0]), "c": np.array([2.5, 1.5, 4.5])}
    finals[broken][1] = value
    compared = compare(finals, "b")
    missing = compared["a"]
    assert np.isnan([missing.p_value, missing.p_adjusted, *missing.improvement, *missing.difference]).all()
    assert np.isfinite(compared["c"].p_value) == (broken == "a")


@pytest.mark.parametrize(("num_trials", "least", "most"), [(10, 0.88, 0.93), (30, 0.92, 0.955)])
def test_intervals_of_few_skewed_trials_cover_as_often_as_the_concepts_page_says(num_trials, least, most):
    values = np.random.default_rng(15).gamma(4.0, size=(num_trials, 2000))
    _, low, high = bootstrap_interval(values, resamples=2000)
    assert least < ((low <= 4) & (high >= 4)).mean() < most


@pytest.mark.long
def test_how_few_trials_cover_is_what_tables_of_few_trials_say():
    trials, shares = (
        [int(each) for each in re.findall(r"\d+", part)]
        for part in FEW.split("normal values")[1].split("contain")
    )
    rng = np.random.default_rng(0)
    for number, share in zip(trials, shares, strict=True):
        _, low, high = bootstrap_interval(rng.standard_normal((number, 4000)))
        assert 100 * ((low <= 0) & (high >= 0)).mean() == pytest.approx(share, abs=2)
    for number, said in ((1, False), (2, True), (ENOUGH - 1, True), (ENOUGH, False)):
        assert (FEW in result(num_trials=number).table().notes) is said


LOGNORMAL = {sigma: np.exp(sigma**2 / 2) for sigma in (0.5, 1.0, 1.5)}  # means


def of_lognormal(sigma, num_trials, count):
    return np.random.default_rng(23).lognormal(0.0, sigma, size=(num_trials, count))


def covered(values, mean, resamples=1500):
    _, low, high = bootstrap_interval(values, resamples=resamples)
    return ((low <= mean) & (high >= mean)).mean()


@pytest.mark.long
@pytest.mark.parametrize(
    ("sigma", "num_trials", "said"), [(1.0, 20, 0.87), (1.0, 30, 0.89), (1.5, 20, 0.81), (1.5, 30, 0.82)]
)
def test_intervals_of_lognormal_trials_cover_as_often_as_the_concepts_page_says(sigma, num_trials, said):
    share = covered(of_lognormal(sigma, num_trials, 10_000), LOGNORMAL[sigma])
    assert share == pytest.approx(said, abs=4 * np.sqrt(said * (1 - said) / 10_000) + 0.005)  # and rounding


@pytest.mark.long
@pytest.mark.parametrize("num_trials", [20, 30])
@pytest.mark.parametrize("sigma", LOGNORMAL)
def test_laws_cover_nine_in_ten_unless_their_typical_sample_is_too_skewed(sigma, num_trials):
    values = of_lognormal(sigma, num_trials, 4000)
    flagged = np.mean([too_skewed(column) for column in values.T])
    assert (covered(values, LOGNORMAL[sigma]) < 0.9) == (flagged > 0.5) == (sigma >= 1)


def test_tables_name_the_agents_whose_trials_are_too_skewed():
    res = result(num_trials=20)
    assert not any("Skewed" in note for note in res.table().notes)
    res.regret["GP-TS"][:, -1] = np.r_[np.ones(19), 1e6]
    for table in (res.table(), summary(res), comparison(res)):
        (note,) = [note for note in table.notes if "Skewed" in note]
        assert "baseline: GP-TS. Intervals" in note
    assert skew_notes({"a": np.r_[np.zeros(9), 1.0], "b": np.zeros(10)}, "b") == []  # FEW says more
    assert not too_skewed(np.full(20, 0.1))


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


def test_the_interval_of_a_ratio_is_scipys_paired_bca():
    rng = np.random.default_rng(7)
    below = rng.gamma(4.0, 2.0, size=40)
    above = below * rng.uniform(1, 2, size=40)
    ours = paired_ratio(above, below, resamples=40_000)
    assert_scipys_bca(ours, (above, below), lambda a, b, axis: a.mean(axis=axis) / b.mean(axis=axis))


def test_a_ratio_whose_resampled_baseline_is_not_positive_has_no_ends():
    ratio = paired_ratio(np.ones(3), np.array([-1.0, -1.0, 3.0]))
    np.testing.assert_array_equal(ratio, [3.0, np.nan, np.nan])


@pytest.mark.parametrize("num_trials", [8, 40])
def test_the_sign_flip_test_is_scipys(num_trials):
    rng = np.random.default_rng(10)
    values, baseline = rng.normal(0.5, 1, size=num_trials), rng.normal(size=num_trials)
    theirs = stats.permutation_test(
        (values, baseline),
        lambda a, b, axis: np.mean(a - b, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=20_000,
        rng=np.random.default_rng(11),
    ).pvalue
    tolerance = 1e-12 if num_trials == 8 else 0.01  # 2^8 ways are counted; else four standard errors
    assert sign_flip_test(values, baseline) == pytest.approx(theirs, abs=tolerance)


def stuck(rng: np.random.Generator, size: tuple[int, ...]) -> np.ndarray:
    """Regret of which 15 % of the trials have a hundred times as much."""
    return rng.exponential(size=size) * np.where(rng.random(size) < 0.15, 100.0, 1.0)


HEAVY = {
    "lognormal": lambda rng, size: rng.lognormal(size=size),
    "Laplace": lambda rng, size: rng.laplace(size=size),
    "stuck trials": stuck,
}


@pytest.mark.long
@pytest.mark.parametrize("law", HEAVY)
def test_the_sign_flip_test_keeps_its_level_at_20_trials_of_heavy_tails(law):
    rng, runs = np.random.default_rng(0), 4000
    values, baselines = (HEAVY[law](rng, (runs, 20)) for _ in range(2))  # of agents that do the same
    rejected = np.mean([sign_flip_test(*pair) <= 0.05 for pair in zip(values, baselines, strict=True)])
    assert abs(rejected - 0.05) < 4 * np.sqrt(0.05 * 0.95 / runs)


def test_the_sign_flip_test_of_a_constant_difference_is_its_smallest_value():
    assert sign_flip_test(np.full(5, 1.1), np.zeros(5)) == 2 / 2**5
    assert sign_flip_test(np.zeros(5), np.zeros(5)) == 1.0
    assert sign_flip_test(np.full(40, 1.1), np.zeros(40)) == 1 / (1 + FLIPS)  # random flips, all of them less


def test_holm_is_the_worked_example():
    # Steps 4 * 0.005, 3 * 0.01, 2 * 0.03, 1 * 0.04, the last raised to the one before.
    np.testing.assert_allclose(holm([0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def test_signs_of_a_table_are_those_that_holms_correction_leaves():
    rng = np.random.default_rng(15)
    base = rng.normal(size=9)
    pairs = [(base + rng.normal(shift, 1.0, size=9), base) for shift in (-3.0, 0.0, 0.8, 0.9, 1.0, 2.0)]
    adjusted = holm([sign_flip_test(*pair) for pair in pairs])
    expected = [np.sign((a - b).mean()) * (p <= 0.05) for (a, b), p in zip(pairs, adjusted, strict=True)]
    assert significant_signs(pairs).tolist() == expected
    assert {*expected} == {-1, 0, 1}
    assert any(sign_flip_test(*pair) <= 0.05 < p for pair, p in zip(pairs, adjusted, strict=True))


def test_pairs_that_are_repeated_turned_or_equal_are_no_further_tests():
    low, high = np.zeros(6), np.arange(6.0) + 1  # p = 2 / 2^6: significant alone, but not among two
    pairs = [(low, high), (low, high), (high, low), (low, low)]
    assert significant_signs(pairs).tolist() == [-1, -1, 1, 0]
    assert significant_signs([*pairs, (high, high[::-1])]).tolist() == [0] * 5


def test_a_pair_with_a_value_that_is_not_finite_is_not_significant():
    pairs = [(np.full(8, np.nan), np.zeros(8)), (np.ones(8), np.zeros(8))]
    assert significant_signs(pairs).tolist() == [0, 1]


@pytest.mark.parametrize("n", range(1, 60))
def test_wilsons_interval_of_none_and_of_all_ends_there(n):
    assert wilson_interval(np.zeros(()), n).low == 0.0
    assert wilson_interval(np.ones(()), n).high == 1.0


def test_probability_of_improvement_counts_trials_with_wilsons_interval():
    values, baseline = np.array([1.0, 2.0, 3.0, 4.0, 5.0]), np.array([2.0, 3.0, 3.5, 4.5, 1.0])
    improvement = probability_of_improvement(values, baseline)
    wilson = stats.binomtest(4, 5).proportion_ci(method="wilson")
    np.testing.assert_allclose(improvement, [0.8, wilson.low, wilson.high], rtol=1e-9)
    assert probability_of_improvement(baseline, baseline).estimate == 0.5
    always = probability_of_improvement(values - 10, baseline)
    assert always.estimate == 1.0
    assert always.low < 0.7


def test_comparisons_are_those_of_the_pairs_with_p_values_corrected_for_their_number():
    rng = np.random.default_rng(13)
    base = rng.gamma(5.0, 1.0, size=12)
    finals = {"base": base, "near": base + rng.normal(size=12), "far": base + 5 + rng.normal(size=12)}
    compared = compare(finals, "base")
    assert list(compared) == ["near", "far"]
    far = compared["far"]
    np.testing.assert_array_equal(far.difference, paired_difference(finals["far"], base))
    np.testing.assert_array_equal(far.ratio, paired_ratio(finals["far"], base))
    assert far.p_value == 2 / 2**12
    assert far.p_adjusted == 2 * far.p_value
    assert compared["near"].p_adjusted == compared["near"].p_value
    assert far.num_trials == 12


def test_a_baseline_of_negative_regret_has_differences_but_no_ratio():
    (comparison,) = compare({"a": np.ones(6), "b": np.full(6, -1.0)}, "b").values()
    np.testing.assert_allclose(comparison.difference, 2.0)
    assert np.isnan(comparison.ratio).all()


def test_scores_are_1_without_loss_and_0_as_the_reference():
    scores = normalised_scores({"a": np.zeros(3), "r": np.array([1.0, 2.0, 3.0])}, "r")
    np.testing.assert_array_equal(scores["a"], 1.0)
    np.testing.assert_allclose(scores["r"], [0.5, 0.0, -0.5])


def test_the_profile_is_the_share_of_trials_above_each_threshold():
    scores = [np.array([0.1, 0.9]), np.array([0.5, 0.5, 0.5, 0.95])]
    profile = performance_profile(scores, np.array([0.0, 0.4, 0.6, 1.0]))
    np.testing.assert_allclose(profile.estimate, [1.0, 0.75, 0.375, 0.0])
    assert (np.diff(profile.estimate) <= 0).all()
    assert (profile.low <= profile.estimate).all()
    assert (profile.estimate <= profile.high).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bootstrap_interval(np.empty((0, 3))), "at least one trial"),
        (lambda: bootstrap_interval(np.ones(3), level=95), r"level must lie in \(0, 1\), got 95"),
        (lambda: paired_difference(np.ones(3), np.ones(4)), "equal shapes"),
        (lambda: log_log_slope(np.ones((2, 5)), np.arange(1, 6), (5, 9)), "at least two"),
        (lambda: log_log_slope(np.ones((2, 5)), np.arange(5), (0, 4)), "round 1 or later"),
        (lambda: quantile_band(np.empty((0, 3))), "at least one trial"),
        (lambda: interquartile_mean(np.empty(0)), "at least one trial"),
        (lambda: paired_ratio(np.ones(3), np.zeros(3)), "positive mean; use paired_difference"),
        (lambda: probability_of_improvement(np.ones(3), np.ones(2)), "equal shapes"),
        (lambda: compare({"a": np.ones(3)}, "b"), "unknown baseline 'b'; choose one of a"),
        (lambda: normalised_scores({"a": np.ones(3)}, "b"), "unknown reference 'b'; choose one of a"),
        (lambda: normalised_scores({"a": np.zeros(3)}, "a"), "positive mean loss"),
        (lambda: performance_profile([], np.ones(1)), "at least one environment"),
        (lambda: log_log_slope(np.zeros((2, 5)), np.arange(1, 6), (1, 5)), "must be positive"),
    ],
)
def test_bad_input_gives_a_clear_error(call, message):
    with pytest.raises(ValueError, match=message):
        call()
