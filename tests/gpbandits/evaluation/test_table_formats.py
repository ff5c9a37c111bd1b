"""Tables hold what the statistics say, in every format; marks of agents in tables and legends."""

from __future__ import annotations

import csv
import dataclasses
import io
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest
from synthetic import result

from gpbandits.evaluation.formats import MARKS, footnotes, marks_in
from gpbandits.evaluation.plots import regret_figure
from gpbandits.evaluation.result import Result
from gpbandits.evaluation.statistics import Interval, compare, log_log_slope
from gpbandits.evaluation.table import Table
from gpbandits.evaluation.tables import comparison, growth, p_text, summary, timing
from gpbandits.report.standings import Standings

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
    table = Table("", (label, "value"), ((label, -1.5),), ())
    head, row = csv.reader(io.StringIO(table.to_csv()))
    shown = f"'{label}" if is_formula else label
    assert (head, row) == ([shown, "value"], [shown, "-1.5"])


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
def test_a_mark_is_in_every_table_with_its_footnote_and_ascii_in_latex(mark):
    for table in (marked(mark).table(), *grids(marked(mark))):
        assert f"GP-UCB{mark.sign}" in " ".join(
            [table.title, *table.header, *(str(row[0]) for row in table.rows)]
        )
        assert [note for note in table.notes if mark.sign in note][-1] == mark.footnote
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


def test_tables_hold_what_the_statistics_say():
    res = result()
    finals = {label: regret[:, -1] for label, regret in res.regret.items()}
    table = comparison(res)
    against = compare(finals, "GP-UCB")
    assert [row[0] for row in table.rows] == ["GP-TS", "random"]
    np.testing.assert_array_equal(table.rows[1][1], against["random"].difference)
    assert table.rows[1][5] == p_text(against["random"].p_adjusted)
    assert "Holm" in " ".join(table.notes)
    assert summary(res).rows[0][0] == "GP-UCB"
    assert all(
        grid.notes[0].startswith("n = 8 trials of 60 rounds") for grid in (table, growth(res), timing(res))
    )
    exponents = {row[0]: row[1] for row in growth(res).rows}
    np.testing.assert_array_equal(
        exponents["random"], log_log_slope(res.regret["random"], res.rounds, (6, 60))
    )
    assert exponents["GP-UCB"].estimate < exponents["random"].estimate
    assert timing(res).rows[0][3] == pytest.approx(res.seconds["GP-UCB"].sum())


def test_regret_that_is_not_positive_has_no_exponent():
    res = result()
    records = {label: record._replace(regret=-record.regret) for label, record in res.records.items()}
    negative = Result("e", 0, records)
    assert [row[1] for row in growth(negative).rows] == [None] * 3


def test_a_grid_prints_as_text_csv_and_latex():
    nan = np.array(np.nan)
    grid = Table(
        "50 % of A_1 & B",
        ("agent", "x", "y"),
        (
            ("a†", Interval(np.array(1.25), np.array(1.0), np.array(2.0)), 3),
            ("b", Interval(np.array(2.0), nan, nan), None),
            ("[c] < 1", Interval(np.array(-2.0), np.array(-3.0), np.array(1e-5)), 0),
        ),
        ("n = 8.",),
    )
    assert [*map(list, grid.texts)] == [
        ["a†", "1.25 [1.00, 2.00]", "3"],
        ["b", "2.00", "-"],
        ["[c] < 1", "-2.00 [-3.00, 1.00e-05]", "0"],
    ]
    assert list(csv.reader(io.StringIO(grid.to_csv()))) == [
        ["agent", "x", "x_low", "x_high", "y"],
        ["a†", "1.25", "1.0", "2.0", "3"],
        ["b", "2.0", "", "", ""],
        ["[c] < 1", "-2.0", "-3.0", "1e-05", "0"],
    ]
    latex = grid.to_latex()
    assert r"\caption{50 \% of A\_1 \& B. n = 8.}" in latex
    captioned = grid.to_latex(caption="Means of x_1", label="tab:x", columns=["y"])
    assert r"\caption{Means of x\_1}" + "\n" + r"\label{tab:x}" in captioned
    assert r"a$^\dagger$ & 3 \\" in captioned
    assert captioned.index(r"\end{tabular}") < captioned.index("n = 8.") < captioned.index(r"\end{table}")
    assert r"a$^\dagger$ & 1.25 [1.00, 2.00] & 3 \\" in latex
    assert r"\begin{tabular}{lrr}" in latex
    assert r"b & 2.00 & -- \\" in latex
    assert r"{}[c] $<$ 1 & $-$2.00 [$-$3.00, 1.00e-05] & 0 \\" in latex


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
@pytest.mark.parametrize("columns", [2, 30])
def test_latex_compiles_whatever_the_labels_are_and_fits_the_page(tmp_path, columns):
    odd = [r"a_b^c & 100 % #1 $x$ {y} \alpha ~", "[c] < 1 | τ ε λ ‡†", "plain"]
    header = ("agent", *(f"K_{k} = 10^{k}" for k in range(1, columns)))
    rows = tuple((label, *(Interval(*map(np.array, (-1.0, -2.0, 1e-5))),) * (columns - 1)) for label in odd)
    page = r"\documentclass{article}\usepackage{booktabs,graphicx}\begin{document}%s\end{document}"
    table = Table("Odd & ends_1", header, rows, ("n = 3.",))
    (tmp_path / "page.tex").write_text(page % table.to_latex(), encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "page.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout
    assert "Overfull" not in done.stdout
