"""Marks behind labels: every one of them is in every table, legend and file."""

from __future__ import annotations

import dataclasses

import pytest
from synthetic import result

from gpbandits.evaluation.marks import MARKS, footnotes, marks_in
from gpbandits.evaluation.plots import regret_figure
from gpbandits.evaluation.result import Result
from gpbandits.evaluation.table import Table
from gpbandits.report.standings import Standings
from gpbandits.report.tables import comparison, growth, summary, timing

each_mark = pytest.mark.parametrize("mark", MARKS, ids=lambda mark: mark.which)


def marked(mark):
    """A result of which one agent carries a mark."""
    if mark.which == "pretrained":
        return dataclasses.replace(result(), tracks={"GP-UCB": "pretrained"})
    return result(**{mark.which: {"GP-UCB"}})


def grids(res) -> list[Table]:
    standings = Standings([res, res], "random")
    across = [standings.overall(), standings.improvement()]
    return [*across, *(table(res) for table in (summary, comparison, growth, timing))]


@each_mark
def test_a_mark_is_in_every_table_with_its_footnote(mark):
    for table in (marked(mark).table(), *grids(marked(mark))):
        assert f"GP-UCB{mark.sign}" in " ".join(
            [table.title, *table.header, *(str(row[0]) for row in table.rows)]
        )
        assert [note for note in table.notes if mark.sign in note][-1] == mark.footnote


@each_mark
def test_a_mark_is_ascii_in_latex(mark):
    (table, *_) = grids(marked(mark))
    assert mark.sign not in table.to_latex()
    assert "GP-UCB$^" in table.to_latex()


@each_mark
def test_a_mark_is_in_the_legend(mark):
    texts = [text.get_text() for text in regret_figure(marked(mark)).axes[0].get_legend().get_texts()]
    assert f"GP-UCB{mark.sign}" in texts
    assert texts[-1] == mark.legend
    assert " ".join(mark.legend.split()) + "." == mark.footnote


@each_mark
def test_a_mark_survives_the_file_and_the_choice_of_agents(mark, tmp_path):
    marked(mark).save(tmp_path / "r.parquet")
    found = Result.load(tmp_path / "r.parquet")
    assert found.marked("GP-UCB") == f"GP-UCB{mark.sign}"
    assert footnotes(found.select(["GP-UCB"])) == [mark.footnote]
    assert footnotes(found.select(["GP-TS", "random"])) == []


def test_what_nobody_carries_is_not_said():
    assert marks_in([result(), result()]) == []
    assert not any(mark.sign in str(result().table()) for mark in MARKS)
    assert not any(
        mark.sign in table.to_csv() + table.to_latex() for table in grids(result()) for mark in MARKS
    )


def test_several_marks_stand_in_one_order():
    both = result(privileged={"GP-UCB"}, approximate={"GP-UCB"}, assuming={"GP-UCB"})
    assert both.marked("GP-UCB") == "GP-UCB†≈§"


def test_labels_without_a_record_are_refused():
    with pytest.raises(ValueError, match="assuming names agents without a record: nobody"):
        result(assuming={"nobody"})
