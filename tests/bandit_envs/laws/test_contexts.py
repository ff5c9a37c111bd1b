"""Contexts come in the stated order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bandit_envs.laws import contexts
from bandit_envs.laws.parameters import parse


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


@pytest.mark.long
@given(count=st.integers(1, 9), rounds=st.integers(1, 50), seed=st.integers(0, 1000))
def test_a_walk_makes_steps_of_at_most_one_and_stays_inside(count, rounds, seed):
    walk = contexts.Walk().draw(rounds, count, rng(seed))
    assert walk.shape == (rounds,)
    assert walk.min() >= 0
    assert walk.max() < count
    assert (np.abs(np.diff(walk)) <= 1).all()


def test_a_walk_is_uniform_in_every_round():
    ends = np.array([contexts.Walk().draw(6, 4, rng(seed))[[0, 5]] for seed in range(1000)])
    for column in ends.T:
        shares = np.bincount(column, minlength=4) / len(ends)
        assert (np.abs(shares - 0.25) < 4 * np.sqrt(0.25 * 0.75 / len(ends))).all()


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"law": "blocks", "length": 0}, "context..length.. must be a positive integer, got 0"),
        ({"law": "recorded", "indices": []}, r"context..indices.. must be a list of integers >= 0, got \[\]"),
        ({"law": "recorded", "indices": [0, -1]}, "context..indices.. must be a list of integers >= 0"),
        ({"law": "recorded", "indices": 3}, "context..indices.. must be a list of integers >= 0, got 3"),
    ],
)
def test_wrong_sequences_are_one_clear_error(spec, message):
    with pytest.raises(ValueError, match=message):
        parse("context", spec, contexts.LAWS)


def test_an_index_of_a_context_that_is_not_there_is_one_clear_error():
    with pytest.raises(ValueError, match=r"context..indices.. must be in 0\.\.2, got 3"):
        contexts.RecordedContexts((0, 3)).draw(5, 3, rng())
