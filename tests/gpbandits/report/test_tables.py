"""Tables and charts of a report hold what the statistics say."""

import csv
import io
import shutil
import subprocess
from xml.etree import ElementTree

import numpy as np
import pytest
from synthetic import result as synthetic_result

from gpbandits.evaluation.result import Result
from gpbandits.evaluation.statistics import Interval, compare, log_log_slope
from gpbandits.evaluation.table import Table
from gpbandits.report.chart import Line, line_chart, padded
from gpbandits.report.tables import comparison, growth, p_text, summary, timing


def test_the_values_that_a_chart_tells_are_those_of_the_curves():
    low, high = np.array([0.5, 1.5]), np.array([2.0, np.pi])
    lines = [Line(0, "a", np.array([1.0, 10.0]), np.array([1.0, 2.5]), low, high)]
    root = ElementTree.fromstring(line_chart(lines, "linear", "t", "round", "regret"))
    assert (root.get("data-name"), root.get("data-x")) == ("round", "1 10")
    (line,) = (path for path in root.iter() if path.get("class", "").startswith("line"))
    assert line.get("data-values") == "1.00 0.500 2.00,2.50 1.50 3.14"


def test_tables_hold_what_the_statistics_say():
    res = synthetic_result()
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
    res = synthetic_result()
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


def test_axes_have_room_for_what_they_show():
    values = np.array([-2.0, 0.0, 8.0, np.nan])
    linear = padded(values, False, 0, 1)
    assert (linear.low, linear.high) == (-2.5, 8.5)
    log = padded(values, True, 0, 1)
    assert log.low < 8 < log.high
    assert log.low > 0
    assert padded(np.array([-1.0]), True, 0, 1).low > 0  # nothing that a logarithm could show
    assert padded(np.zeros(3), False, 0, 1).high > 0


def test_a_label_that_a_spreadsheet_would_compute_is_text_in_the_csv():
    grid = Table("title", ("=1+1", "value"), (("=HYPERLINK(0)", -1.5), ("@x", 2.0)), ())
    assert list(csv.reader(io.StringIO(grid.to_csv()))) == [
        ["'=1+1", "value"],
        ["'=HYPERLINK(0)", "-1.5"],
        ["'@x", "2.0"],
    ]
