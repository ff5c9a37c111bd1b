"""The rounds of the agent for real problems: first plays, what is left to play for, and changes."""

from __future__ import annotations

import numpy as np
import pytest
from real_cases import line, played
from scipy import stats
from scipy.stats import norm

from agents.real.anew import ALARM, ChangeSums, surprise
from agents.real.horizon import improvement, rounds_to_use
from agents.real.shortlist import SPREAD as MOST
from agents.real.shortlist import spread_out

NUMERIC = np.ones(2, dtype=bool)


def test_the_order_has_every_arm_once_and_begins_in_the_middle():
    arms = np.random.default_rng(0).uniform(size=(300, 2))
    order = spread_out(arms, NUMERIC, np.random.default_rng(1))
    distance = np.square(arms - 0.5).sum(axis=1)
    np.testing.assert_array_equal(np.sort(order), np.arange(300))
    assert order[0] == distance.argmin()
    assert distance[order[:MOST]].max() <= np.sort(distance)[150]


def test_the_second_is_the_farthest_of_the_inner_half_from_the_first():
    arms = np.random.default_rng(0).uniform(size=(300, 2))
    order = spread_out(arms, NUMERIC, np.random.default_rng(1))
    inner = np.argsort(np.square(arms - 0.5).sum(axis=1))[:150]
    far = np.square(arms[inner] - arms[order[0]]).sum(axis=1)
    assert order[1] == inner[far.argmax()]


def test_one_arm_is_its_own_order():
    np.testing.assert_array_equal(spread_out(np.zeros((1, 2)), NUMERIC, np.random.default_rng(0)), [0])


def test_choices_alone_have_no_centre_and_are_in_a_random_order():
    arms = np.eye(4)[np.random.default_rng(0).integers(4, size=60)]
    none = np.zeros(4, dtype=bool)
    first, again, other = (spread_out(arms, none, np.random.default_rng(seed)) for seed in (1, 1, 2))
    np.testing.assert_array_equal(np.sort(first), np.arange(60))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


DRAWS = norm.ppf((np.arange(200_000) + 0.5) / 200_000)  # an even sample


def test_the_improvement_is_the_expected_rise_of_the_largest_mean():
    mean, variance, noise = np.array([0.0, 1.0, 0.7, -2.0]), np.array([2.0, 0.3, 0.5, 1.0]), np.full(4, 0.4)
    found = improvement(mean, variance, noise)
    for i in range(4):
        moved = mean[i] + variance[i] / np.sqrt(variance[i] + noise[i]) * DRAWS
        rise = np.maximum(moved, np.delete(mean, i).max()) - mean.max()
        assert found[i] == pytest.approx(rise.mean(), abs=1e-4)


def test_an_arm_that_is_known_improves_nothing():
    np.testing.assert_array_equal(improvement(np.array([0.0, 0.0]), np.zeros(2), np.zeros(2) + 0.1), 0.0)
    np.testing.assert_array_equal(improvement(np.zeros(1), np.ones(1), np.ones(1)), 0.0)


def test_all_rounds_that_are_left_use_what_is_learnt_where_nothing_changes():
    assert rounds_to_use(37.5, 10, None, 5, 1, -1) == 37.5
    assert rounds_to_use(-3.0, 10, None, 5, 1, -1) == 0.0


def test_a_context_uses_it_while_it_lasts_or_when_it_returns():
    assert rounds_to_use(100.0, 50, 9, 0, 4, -1) == 10.0  # (50 + 50) / (9 + 1)
    assert rounds_to_use(100.0, 50, 9, 26, 4, -1) == 50.0  # 100 (26 + 1) / (50 + 4)
    assert rounds_to_use(8.0, 50, 9, 26, 4, -1) == 8.0


def test_after_changes_fewer_rounds_use_it():
    assert rounds_to_use(500.0, 150, None, 0, 1, 0) == 100.0
    assert rounds_to_use(500.0, 150, None, 0, 1, 3) == 25.0


RUNS = 12


def test_a_surprise_is_the_difference_of_two_log_densities():
    wide = stats.norm(0.0, (0.8 + 0.3) ** 0.5).logpdf(1.3)
    predicted = stats.t(4.0, 0.2, 0.5**0.5).logpdf(1.3)
    assert surprise(1.3, 0.2, 0.5, 0.8) == pytest.approx(wide - predicted)


def test_an_alarm_counts_plays_since_the_sum_was_zero():
    sums = ChangeSums()
    for t, more in enumerate((1.0, -3.0, -1.0, 0.6 * ALARM)):
        assert not sums.observe(more, t, t)
    assert sums.observe(0.6 * ALARM, 4, 4)
    assert (sums.alarms, sums.since) == ([4], 3)
    assert not sums.observe(0.9 * ALARM, 5, 5)  # the sum began anew


def test_two_alarms_of_one_round_are_one():
    sums = ChangeSums()
    assert sums.observe(2.0 * ALARM, 3, 7)
    assert sums.observe(2.0 * ALARM, 4, 7)
    assert sums.alarms == [7]


def law(seed: int, jump: int | None, horizon: int):
    """Noisy values of a smooth function, which is turned over after some rounds."""
    rng = np.random.default_rng(seed)
    phase, noise = rng.uniform(0.0, 6.0), 0.1 * rng.standard_normal(horizon)
    return lambda arm, t: (
        np.sin(phase + 0.5 * arm) * (-1.0 if jump is not None and t >= jump else 1.0) + noise[t]
    )


@pytest.mark.long
def test_nothing_is_detected_in_most_runs_without_a_change():
    setting = line(horizon=80, may_change=True)
    alarms = [played(setting, law(seed, None, 80), seed=seed)[0].alarms for seed in range(RUNS)]
    assert sum(map(bool, alarms)) <= RUNS // 4


@pytest.mark.long
def test_a_jump_is_detected_within_a_few_plays():
    setting = line(horizon=80, may_change=True)
    found = [played(setting, law(seed, 50, 80), seed=seed)[0].alarms for seed in range(RUNS)]
    soon = [any(50 <= alarm < 58 for alarm in alarms) for alarms in found]
    assert np.mean(soon) >= 0.75


@pytest.mark.parametrize("seed", range(2))
def test_after_a_jump_the_new_best_arm_is_found(seed):
    value = law(seed, 30, 60)
    agent, plays = played(line(horizon=60, may_change=True), value, seed=seed)
    quiet = [np.mean([value(arm, t) for t in range(30, 60)]) for arm in range(12)]
    assert agent.alarms
    assert np.mean([quiet[arm] for arm in plays[50:]]) > max(quiet) - 0.3


def test_an_agent_of_a_setting_that_cannot_change_has_no_alarms():
    agent, _ = played(line(horizon=8), law(0, None, 8))
    assert agent.alarms is None
