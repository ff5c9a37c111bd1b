"""First plays where plays have costs: distinct, the most central first, then spread over the inner half."""

from __future__ import annotations

import numpy as np

from agents.real.first_plays import MOST, spread_out

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
