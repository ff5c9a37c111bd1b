"""Formats of tables, and marks of agents in tables and legends."""

from __future__ import annotations

import csv
import dataclasses
import io

import numpy as np
import pandas as pd
import pytest
from synthetic import result

from gpbandits.evaluation.marks import MARKS, footnotes, marks_in
from gpbandits.evaluation.plots import regret_figure
from gpbandits.evaluation.result import Result
from gpbandits.evaluation.table import Table
from gpbandits.report.standings import Standings
from gpbandits.report.tables import comparison, growth, summary, timing

TABLE = result(labels=("50 % & more_", "a|b", "random"), privileged={"a|b"}).table()


def test_frames_and_csv_have_numbers_with_all_digits_and_columns_for_the_ends_of_intervals():
    frame = TABLE.to_frame()
    regret, low, high = (frame[f"regret{end}"] for end in ("", "_low", "_high"))
    values = np.array([row[TABLE.header.index("regret")] for row in TABLE.rows])
    np.testing.assert_array_equal(np.column_stack([regret, low, high]), values)
    assert [str(each) for each in frame.dtypes[1:]] == ["float64"] * (len(frame.columns) - 1)
    ends = frame.filter(like="difference").to_numpy()
    baseline = result(labels=("50 % & more_", "a|b", "random")).baseline
    assert np.isnan(ends[[label == baseline for label in frame["agent"]]]).all()
    assert (ends[:, 1] <= ends[:, 0])[~np.isnan(ends[:, 0])].all()
    read = pd.read_csv(io.StringIO(TABLE.to_csv()))
    pd.testing.assert_frame_equal(read, frame, check_exact=True)


def test_a_table_of_missing_numbers_has_columns_of_numbers():
    table = Table("", ("agent", "value"), (("a", None), ("b", None)), ())
    assert table.to_frame()["value"].isna().all()
    assert table.to_frame()["value"].dtype == float
    assert table.to_csv() == "agent,value\na,\nb,\n"


@pytest.mark.parametrize("label", ["=1+1", "+cmd|x", "@sum", "-a", "\tx", "-", "-1.5", "+41.3", "-2e-05"])
def test_text_that_a_spreadsheet_would_run_is_quoted_and_a_number_is_not(label):
    is_formula = label not in ("-", "-1.5", "+41.3", "-2e-05")
    table = Table("", ("agent", "value"), ((label, -1.5),), ())
    (row,) = list(csv.reader(io.StringIO(table.to_csv())))[1:]
    assert row == [f"'{label}" if is_formula else label, "-1.5"]


RED = "\x1b[31mred\x9b0m\r\n"
HTML = "<img src=x onerror=alert(1)> ![pixel](http://example.invalid) & more"


def test_control_characters_of_labels_are_printed_as_escapes():
    drawn = result(labels=(RED, "random"))
    table = dataclasses.replace(drawn.table(), header=(RED, *drawn.table().header[1:]), title=RED)
    for text in (str(table), repr(drawn), table.to_markdown(), table.to_latex()):
        assert not {"\x1b", "\x9b", "\r"} & set(text)
        assert "x1b" in text
    assert len(str(table).splitlines()) == 7 + len(table.notes)  # title, three rules, heading, two agents
    assert table.to_frame().iloc[:, 0].tolist().count(RED) == 1  # a table of data has the label itself


def test_markdown_has_no_html_and_no_links_of_labels():
    table = Table(HTML, ("agent", HTML), ((HTML, 1.0),), (HTML,), frozenset({(0, 0)}))
    written = table.to_markdown()
    assert "<" not in written
    assert "](" not in written
    assert "&lt;img src=x onerror=alert(1)&gt;" in written
    assert "&amp; more" in written


def test_latex_has_a_line_an_agent_and_escapes_what_is_special():
    text = TABLE.to_latex()
    assert text.count(r" \\") == 1 + len(TABLE.rows)
    assert r"50 \% \& more\_ & " in text
    assert r"a$|$b$^\dagger$ & " in text


def test_line_breaks_of_a_caption_are_blanks_in_latex():
    text = TABLE.to_latex(
        caption="""Regret of
        three agents."""
    )
    assert r"\caption{Regret of three agents.}" in text


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
