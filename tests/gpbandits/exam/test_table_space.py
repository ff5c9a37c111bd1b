"""A tuner on the rows of a table."""

from __future__ import annotations

import numpy as np
import pytest

from agents import Tuner
from gpbandits.exam.entrants import EXACT, TableSpace

ROWS = np.random.default_rng(0).random((12, 3))


def tuner_on(space):
    return Tuner(space, num_arms=len(ROWS), budget=len(ROWS), **EXACT)


def test_every_row_is_asked_for_once_and_then_there_is_none_left():
    space = TableSpace(ROWS)
    tuner, asked = tuner_on(space), []
    for _ in ROWS:
        ticket, parameters = tuner.ask()
        asked.append(space.index(parameters))
        tuner.tell(ticket, float(ROWS[asked[-1]].sum()))
    assert sorted(asked) == list(range(len(ROWS)))
    assert space.index(tuner.best.parameters) == ROWS.sum(axis=1).argmax()
    with pytest.raises(ValueError, match="all were tried"):
        tuner.ask()


def test_points_and_features_are_the_rows():
    space = TableSpace(ROWS)
    assert space.size == len(space.spread(99)) == len(ROWS)
    for i, row in enumerate(ROWS):
        assert np.array_equal(space.features(space.point(i)), row)
        assert space.index(space.point(i)) == i


def test_a_tuner_on_a_table_is_not_saved_without_its_rows(tmp_path):
    tuner = tuner_on(TableSpace(ROWS))
    tuner.ask()
    with pytest.raises(ValueError, match="rows of a table is not saved"):
        tuner.save(tmp_path / "tuner.json")
    assert not list(tmp_path.iterdir())
