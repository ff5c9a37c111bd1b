"""Published results of HPO-B, and the tables on which they were found."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import numpy as np
import pytest
from exam_cases import PLAYED

from bandit_envs.data.files import packages
from bandit_envs.data.tables import HPOB_ORIGIN, HPOB_PACKAGE, HPOB_TABLES, load_hpob
from gpbandits.exam.tables import LEARNING, published_rows

NAME = "hpob_published.csv"
GIVEN = Path(os.environ.get("GPBANDITS_DATA", "")) / NAME


@pytest.mark.skipif(not GIVEN.is_file(), reason=f"$GPBANDITS_DATA has no {NAME}")
def test_the_numbers_that_ship_are_those_of_the_source():
    with GIVEN.open(encoding="utf-8") as file:
        assert list(csv.DictReader(file)) == list(published_rows())


def test_every_table_has_every_method():
    methods = {row["method"] for row in published_rows()}
    pairs = {(f"{row['search_space']}-{row['data_set']}", row["method"]) for row in published_rows()}
    assert len(published_rows()) == len(pairs) == len(HPOB_TABLES) * len(methods)
    assert pairs == {(table, method) for table in HPOB_TABLES for method in methods}
    assert len(HPOB_TABLES) == 43
    assert set(LEARNING) < methods


def test_a_table_s_numbers_are_published_alone_or_averaged():
    part = PLAYED["hpo-b"]
    at = next(each for each in part.milestones if each.question == 25)
    first, second, both = (
        part.published(at, tables) for tables in (HPOB_TABLES[:1], HPOB_TABLES[1:2], HPOB_TABLES[:2])
    )
    assert first["GP"].value == 0.00816  # the second row of the file
    for who, value in both.items():
        assert value.value == pytest.approx((first[who].value + second[who].value) / 2)


def test_the_marks_of_the_source_are_the_means_over_all_tables():
    """As printed by those who posed the exam: FSBO after 25 and 50, BOHAMIANN after 100, FSBO2."""
    part = PLAYED["hpo-b"]
    means = {at.question: part.published(at, HPOB_TABLES) for at in part.milestones}
    found = [round(means[q][who].value, 4) for q, who in ((25, "FSBO‡"), (50, "FSBO‡"), (100, "BOHAMIANN"))]
    assert found == [0.0338, 0.0208, 0.0127]
    assert [round(means[q]["FSBO2‡"].value, 4) for q in (25, 50, 100)] == [0.0298, 0.0218, 0.0108]


def test_tables_name_their_authors_and_licence():
    assert "Pineda Arango" in HPOB_ORIGIN.authors
    assert HPOB_ORIGIN.licence == packages()[HPOB_PACKAGE].licence == "MIT"
    assert HPOB_ORIGIN.doi in PLAYED["hpo-b"].source


@pytest.mark.needs_packages(HPOB_PACKAGE)
@pytest.mark.parametrize(
    "table",
    [
        pytest.param(each, marks=() if i % 7 == 0 else pytest.mark.further)
        for i, each in enumerate(HPOB_TABLES)
    ],
)
def test_a_table_has_different_configurations_in_the_unit_cube_and_a_normalised_best(table):
    held = load_hpob(table)
    assert len(held.unit) == len(held.accuracy) > 100
    assert held.unit.min() >= 0
    assert held.unit.max() <= 1
    assert len(np.unique(held.unit, axis=0)) == len(held.unit)
    assert (held.normalised.min(), held.normalised.max()) == (0.0, 1.0)


@pytest.mark.needs_packages(HPOB_PACKAGE)
def test_equal_configurations_count_once_with_their_best_accuracy(monkeypatch):
    rows = np.array([[0.0, 0.5, 0.7], [1.0, 0.5, 0.2], [0.0, 0.5, 0.9]], dtype=np.float32)
    monkeypatch.setattr("bandit_envs.data.tables.hpob_arrays", lambda: {"4796_23": rows})
    held = load_hpob("4796-23")
    assert held.unit.tolist() == [[0.0, 0.5], [1.0, 0.5]]
    assert held.accuracy.tolist() == pytest.approx([0.9, 0.2])


def test_tables_kept_for_a_later_check_are_refused():
    with pytest.raises(ValueError, match="table must be"):
        load_hpob("5906-9971")
