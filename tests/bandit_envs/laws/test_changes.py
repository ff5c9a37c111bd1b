"""Change-points come when their law says."""

from __future__ import annotations

import numpy as np
import pytest

from bandit_envs.laws import changes
from bandit_envs.laws.parameters import parse


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize("horizon", [1, 4, 300])
@pytest.mark.parametrize("name", changes.LAWS)
def test_segments_of_every_law_are_numbered_from_0_without_a_gap(name, horizon):
    law = parse("changes", name, changes.LAWS)
    if horizon < getattr(law, "num_segments", 0):
        return  # which is refused, below
    segment = law.draw(horizon, rng())
    assert segment.shape == (horizon,)
    assert segment.dtype.kind == "i"
    assert segment[0] == 0
    assert set(np.diff(segment)) <= {0, 1}


def test_change_points_are_the_first_rounds_of_new_segments():
    np.testing.assert_array_equal(changes.AtRounds((2, 5)).draw(7, rng()), [0, 0, 1, 1, 1, 2, 2])
    with pytest.raises(ValueError, match=r"change_points must be rounds below the horizon 4, got \[2, 4\]"):
        changes.AtRounds((2, 4)).draw(4, rng())
    assert not changes.AtRounds().draw(4, rng()).any()
    assert not changes.Stationary().draw(4, rng()).any()


@pytest.mark.parametrize(("horizon", "count"), [(1200, 4), (2700, 7), (5, 2), (9, 9), (11, 1)])
def test_period_i_of_even_segments_ends_after_the_rounded_share_of_the_rounds(horizon, count):
    segment = changes.Evenly(count).draw(horizon, rng())
    ends = [int(np.floor(i * horizon / count + 0.5)) for i in range(1, count + 1)]
    np.testing.assert_array_equal(np.cumsum(np.bincount(segment)), ends)
    np.testing.assert_array_equal(changes.change_points_of(segment), ends[:-1])
    np.testing.assert_array_equal(changes.segments_of(np.array(ends[:-1], dtype=int), horizon), segment)


def test_recurring_segments_are_even_ones_whose_functions_come_in_turn():
    law = changes.Recurring(num_segments=5, num_functions=2)
    segment = law.draw(50, rng())
    np.testing.assert_array_equal(segment, changes.Evenly(5).draw(50, rng()))
    np.testing.assert_array_equal(law.functions(segment), np.repeat([0, 1, 0, 1, 0], 10))
    np.testing.assert_array_equal(changes.Recurring(5, 7).functions(segment), segment)
    np.testing.assert_array_equal(changes.Evenly(5).functions(segment), segment)


def test_geometric_segments_have_the_stated_hazard_and_no_shorter_gap():
    law, horizon = changes.GeometricChanges(hazard=0.05, min_gap=8), 200_000
    segment = law.draw(horizon, rng())
    lengths = np.diff(changes.change_points_of(segment), prepend=0)
    assert segment[0] == 0
    assert lengths.min() == 8
    # A geometric number of hazard p has mean 1 / p and variance (1 - p) / p^2.
    error = np.sqrt(0.95) / 0.05 / np.sqrt(len(lengths))
    assert abs(lengths.mean() - (7 + 20)) < 4 * error
    assert abs((lengths == 8).mean() - 0.05) < 4 * np.sqrt(0.05 * 0.95 / len(lengths))


def test_a_certain_change_comes_as_soon_as_the_gap_allows():
    np.testing.assert_array_equal(changes.GeometricChanges(1.0, 3).draw(7, rng()), [0, 0, 0, 1, 1, 1, 2])
    np.testing.assert_array_equal(changes.GeometricChanges(1.0).draw(4, rng()), [0, 1, 2, 3])
    assert not changes.GeometricChanges(1e-18).draw(50, rng()).any()


def test_more_even_segments_than_rounds_are_refused():
    with pytest.raises(ValueError, match="num_segments must be at most the horizon 3, got 4"):
        changes.Evenly(4).draw(3, rng())


@pytest.mark.parametrize("min_gap", [1, 2, 3, 50, 2**62])
def test_a_change_that_hardly_ever_comes_does_not_come(min_gap):
    segment = changes.GeometricChanges(hazard=1e-25, min_gap=min_gap).draw(100, rng())
    np.testing.assert_array_equal(segment, 0)


@pytest.mark.parametrize("min_gap", [1, 4, 30])
def test_segments_last_as_long_as_they_must_and_begin_at_zero(min_gap):
    for seed in range(20):
        segment = changes.GeometricChanges(hazard=0.5, min_gap=min_gap).draw(100, rng(seed))
        lengths = np.bincount(segment)
        assert segment[0] == 0
        assert (lengths[:-1] >= min_gap).all()
