"""Tables of the exam: what is published, what reaches a mark, and the rows that a tuner may ask for."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import numpy as np
import pytest
from exam_cases import PLAYED

from agents import Tuner
from bandit_envs.data.tables import HPOB_PACKAGE, HPOB_TABLES, load_hpob
from gpbandits.exam.entrants import EXACT, TableSpace
from gpbandits.exam.part import STATISTICS, ExamRow, Milestone, Published
from gpbandits.exam.report import MARKS, part_figure, part_table
from gpbandits.exam.tables import LEARNING, published_rows

SEEDS = 3


def perfect(part, entrant="perfect", tasks=None, spoilt=()):
    """Rows of an entrant that reaches all marks, but for some tasks."""
    good, bad = (1e3, 0.0) if part.better > 0 else (0.0, 1e3)
    rows = []
    for task in tasks or part.tasks:
        kept = part.kept_until(part.questions(task))
        values = np.full(len(kept), bad if task in spoilt else good)
        rows += [ExamRow(task, entrant, s, part.questions(task), "", 1.0, values) for s in range(SEEDS)]
    return rows


def entry(part, table, entrant, at):
    """The cell of an entrant at a milestone, and whether it is in bold."""
    for i, row in enumerate(table.rows):
        for j, name in enumerate(table.header):
            if (row[0], name) == (entrant, at.title) or (row[0] == at.title and name.startswith(entrant)):
                return row[j], (i, j) in table.bold
    raise AssertionError(f"{entrant} has no cell at {at.title}")


@pytest.mark.parametrize("part", PLAYED.values(), ids=PLAYED)
def test_what_reaches_a_mark_is_in_bold_and_nothing_else(part):
    spoilt = part.tasks if len(part.tasks) == 1 else part.tasks[:1]
    rows = perfect(part) + perfect(part, "spoilt", spoilt=spoilt)
    table = part_table(part, rows, part.tasks)
    for at in part.milestones:
        text, bold = entry(part, table, "perfect", at)
        assert bold == (at.title in MARKS[part.name])
        assert text
        _, bold = entry(part, table, "spoilt", at)
        kept = not set(part.tasks_of(at, part.tasks)) & set(spoilt)
        assert bold == (kept and at.title in MARKS[part.name])


@pytest.mark.parametrize("part", PLAYED.values(), ids=PLAYED)
def test_published_numbers_of_a_table_are_those_of_its_tasks(part):
    for tasks in (part.tasks, part.quick_tasks):
        table = part_table(part, perfect(part, tasks=tasks), tasks)
        said = " ".join(str(cell) for row in table.rows for cell in row)
        for at in part.milestones:
            for who, value in part.published(at, part.tasks_of(at, tasks)).items():
                assert who in said
                assert str(value) in said
        assert f"{len(tasks)} of {len(part.tasks)} tasks" in table.notes[0]


@pytest.mark.parametrize("statistic", STATISTICS)
def test_statistics_are_those_of_all_values(statistic):
    values = {"a": np.array([0.1, 0.3]), "b": np.array([0.0, 0.8])}
    at = Milestone("", 1, statistic, within=0.1)
    expected = {"mean": 0.3, "median": 0.2, "worst": 0.8, "share within": 0.5}[statistic]
    assert at.of(values).value == pytest.approx(expected)
    if statistic == "worst":
        assert at.of(values, better=1).value == 0.0


def test_the_error_of_a_mean_is_that_of_seeds_within_tasks():
    rng, at = np.random.default_rng(0), Milestone("", 1)
    offsets = {"a": 0.0, "b": 100.0}  # tasks are no sample: their difference is no error
    drawn = [{task: each + rng.normal(size=8) for task, each in offsets.items()} for _ in range(4000)]
    found = [at.of(values) for values in drawn]
    means = np.array([each.value for each in found])
    errors = np.array([each.error for each in found])
    assert means.std() == pytest.approx(1 / np.sqrt(16), rel=0.05)
    assert (errors**2).mean() == pytest.approx(1 / 16, rel=0.05)
    assert at.of({"a": np.array([1.0])}) == Published(1.0)


def test_an_entrant_counts_with_the_seeds_that_it_has_on_all_its_tasks():
    part = PLAYED["crossed-barrel"]
    (task,) = part.tasks
    table = part_table(part, perfect(part)[:2], part.tasks)
    assert next(row for row in table.rows if row[0] == "perfect")[1] == 2
    assert part_figure(part, [], [task]) is None


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
    monkeypatch.setattr("bandit_envs.data.tables.hpo_arrays", lambda source: {"4796_23": rows})
    held = load_hpob("4796-23")
    assert held.unit.tolist() == [[0.0, 0.5], [1.0, 0.5]]
    assert held.accuracy.tolist() == pytest.approx([0.9, 0.2])


def test_tables_kept_for_a_later_check_are_refused():
    with pytest.raises(ValueError, match="table must be"):
        load_hpob("5906-9971")
