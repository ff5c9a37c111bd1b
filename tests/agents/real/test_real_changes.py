"""Detection of changes: sums against densities, few false alarms, and one soon after a jump."""

from __future__ import annotations

import numpy as np
import pytest
from real_cases import line, played
from scipy import stats

from agents.real.changes import ALARM, ChangeSums, surprise

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
