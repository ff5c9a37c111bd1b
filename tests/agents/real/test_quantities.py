"""The record of values by point, and which quantities a setting has."""

from __future__ import annotations

import numpy as np
import pytest
from real_cases import line

from agents.model.model import Model
from agents.real.parts import RealParts
from agents.real.quantities import PlayValues, PointRecord, QuantitySpec


def test_means_and_squares_are_those_of_each_point():
    rng = np.random.default_rng(0)
    point, values = rng.integers(150, size=400), rng.standard_normal((400, 2))  # more points than first rows
    record = PointRecord(2)
    for t in range(400):
        record.add(PlayValues(int(point[t]), t, tuple(values[t])))
    for quantity in range(2):
        seen = record.seen(quantity)
        assert len(seen.point) == len(np.unique(point))
        for i, each in enumerate(seen.point):
            own = values[point == each, quantity]
            assert seen.plays[i] == len(own)
            assert seen.mean[i] == pytest.approx(own.mean())
            assert seen.squares[i] == pytest.approx(np.square(own - own.mean()).sum(), abs=1e-12)
    assert record.count == 400


def test_plays_of_stated_noise_have_a_weighted_mean():
    record = PointRecord(1)
    for t, (value, weight) in enumerate(((1.0, 4.0), (3.0, 1.0), (0.0, 0.5))):
        record.add(PlayValues(7, t, (value,), weight))
    seen = record.seen(0)
    mean = 7.0 / 5.5
    assert (seen.plays[0], seen.weight[0]) == (3.0, 5.5)
    assert seen.mean[0] == pytest.approx(mean)
    assert seen.squares[0] == pytest.approx(4.0 * (1 - mean) ** 2 + (3 - mean) ** 2 + 0.5 * mean**2)


def test_what_was_read_stays_as_it_was():
    record = PointRecord(1)
    record.add(PlayValues(3, 0, (1.0,)))
    kept = record.seen(0)
    record.add(PlayValues(3, 1, (5.0,)))
    assert (kept.plays[0], kept.mean[0], record.seen(0).mean[0]) == (1.0, 1.0, 3.0)


@pytest.mark.parametrize(
    ("published", "learners"),
    [
        ({}, 1),
        ({"num_constraints": 2}, 3),
        ({"budget": 9.0}, 2),
        ({"budget": 9.0, "num_constraints": 2}, 4),
        ({"budget": 9.0, "num_constraints": 2, "known_costs": np.ones(12)}, 3),
    ],
    ids=str,
)
def test_every_quantity_that_is_not_published_has_a_learner(published, learners):
    spec = QuantitySpec.of(Model.of(line(**published)), False, RealParts())
    assert len(spec.learners(np.random.default_rng(0))) == learners
