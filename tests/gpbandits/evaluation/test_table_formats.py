"""Tables as data frames, comma-separated values, Markdown and LaTeX."""

import csv
import dataclasses
import io
from html import unescape

import numpy as np
import pandas as pd
import pytest
from synthetic import result

from gpbandits.evaluation.table import Table

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


def test_markdown_has_all_cells_in_their_order():
    header, rule, *lines = TABLE.to_markdown().splitlines()
    assert unescape(header) == f"| {' | '.join(TABLE.header)} |"
    assert rule.count("---") == len(TABLE.header)
    assert lines[1].startswith("| a&#124;b† | ")
    assert [line.count(" | ") for line in lines[:3]] == [len(TABLE.header) - 1] * 3
    assert any(cell.startswith("+") for row in TABLE.texts for cell in row)  # differences have signs
    assert TABLE.notes[-1] in lines[-1]


def test_latex_has_a_line_an_agent_and_escapes_what_is_special():
    text = TABLE.to_latex()
    assert text.count(r" \\") == 1 + len(TABLE.rows)
    assert r"50 \% \& more\_ & " in text
    assert r"a$|$b$^\dagger$ & " in text
