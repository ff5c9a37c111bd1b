"""What a play may improve, and in how many rounds that is of use."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from agents.real.horizon import improvement, rounds_to_use

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
    assert rounds_to_use(500.0, 150, None, 0, 1, 0) == 200.0
    assert rounds_to_use(500.0, 150, None, 0, 1, 3) == 50.0
