"""Laws of contexts and of changes."""

import numpy as np
import pytest

from bandit_envs.basics.options import parse
from bandit_envs.laws import changes, contexts


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize("count", [1, 5])
@pytest.mark.parametrize("name", contexts.LAWS)
def test_contexts_of_every_law_are_among_those_there_are(name, count):
    context = parse("context", name, contexts.LAWS).draw(300, count, rng())
    assert context.shape == (300,)
    assert context.dtype.kind == "i"
    assert context.min() >= 0
    assert context.max() < count


def test_contexts_are_uniform():
    context = contexts.UniformContexts().draw(8000, 5, rng())
    shares = np.bincount(context, minlength=5) / 8000
    assert (np.abs(shares - 0.2) < 4 * np.sqrt(0.2 * 0.8 / 8000)).all()
    assert not contexts.UniformContexts().draw(10, 1, rng()).any()


def test_blocks_show_each_context_for_a_while_and_begin_again():
    np.testing.assert_array_equal(contexts.Blocks(2).draw(9, 3, rng()), [0, 0, 1, 1, 2, 2, 0, 0, 1])


def test_a_recorded_sequence_is_shown_as_it_is_and_begins_again():
    for indices in ([2, 0, 1], (2, 0, 1), np.array([2, 0, 1])):
        law = contexts.RecordedContexts(indices)  # type: ignore[arg-type]
        np.testing.assert_array_equal(law.draw(5, 3, rng()), [2, 0, 1, 2, 0])
    with pytest.raises(ValueError, match=r"context..indices.. must be in 0\.\.2, got 3"):
        contexts.RecordedContexts((0, 3)).draw(5, 3, rng())


def test_a_walk_makes_steps_of_at_most_one_and_is_uniform_in_every_round():
    walks = np.array([contexts.Walk().draw(6, 4, rng(seed)) for seed in range(1000)])
    assert (np.abs(np.diff(walks)) <= 1).all()
    for column in walks[:, [0, 5]].T:
        shares = np.bincount(column, minlength=4) / len(walks)
        assert (np.abs(shares - 0.25) < 4 * np.sqrt(0.25 * 0.75 / len(walks))).all()


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
    with pytest.raises(ValueError, match=f"num_segments must be at most the horizon {count - 1}, got"):
        changes.Evenly(count).draw(count - 1, rng())


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


@pytest.mark.parametrize("min_gap", [1, 2, 3, 50, 2**62])
def test_a_change_that_hardly_ever_comes_does_not_come(min_gap):
    segment = changes.GeometricChanges(hazard=1e-25, min_gap=min_gap).draw(100, rng())
    np.testing.assert_array_equal(segment, 0)
