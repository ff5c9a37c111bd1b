"""Tables of the exam: published numbers, statistics of entrants, and marks that are reached."""

from __future__ import annotations

import numpy as np
import pytest
from exam_cases import PLAYED

from gpbandits.exam.part import STATISTICS, ExamRow, Milestone, Published
from gpbandits.exam.report import MARKS, part_figure, part_table

SEEDS = 3


def perfect(part, entrant="perfect", tasks=None, spoilt=()):
    """Rows of an entrant that reaches all marks, but for some tasks."""
    good, bad = (1e3, 0.0) if part.better > 0 else (0.0, 1e3)
    rows = []
    for task in tasks or part.tasks:
        kept = part.kept_until(task, part.questions(task))
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


def test_marks_are_shown_for_the_whole_part_alone():
    part = PLAYED["hpo-b"]
    few = part.quick_tasks
    assert "mark" not in [row[0] for row in part_table(part, perfect(part, tasks=few), few).rows]
    assert part_table(part, perfect(part), part.tasks).rows[-1] == (
        "mark",
        None,
        None,
        "0.0338",
        "0.0208",
        "0.0127",
    )


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
