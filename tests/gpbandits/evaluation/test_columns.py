"""Tables of a result with columns, baseline, style and order of the user's choice, on any terminal."""

import io
import re

import numpy as np
import pytest
from rich.console import Console
from synthetic import result

from gpbandits.evaluation.columns import COLUMNS, has_column
from gpbandits.evaluation.measures import METRICS, metrics_of
from gpbandits.evaluation.statistics import Interval, bootstrap_interval, paired_difference
from gpbandits.evaluation.table import Table

COSTLY = result(num_constraints=1, labels=("gp-ucb-noiseless-constraints", "sdf", "random"))
WIDTHS = [60, 80, 100, 140]


@pytest.mark.parametrize("name", [*METRICS, *COLUMNS])
def test_every_column_is_there_by_its_name_or_refused_where_the_result_lacks_it(name):
    if not has_column(COSTLY, name):
        with pytest.raises(
            ValueError, match=f"columns must be what 'GP, length-scale 0.2' has, got '{name}'"
        ):
            COSTLY.table([name])
        return
    table = COSTLY.table([name], sort="given")
    assert table.names == ("agent", name)
    assert [row[0] for row in table.rows] == COSTLY.agents
    assert table.to_frame().columns[1] == name


@pytest.mark.parametrize("name", metrics_of(COSTLY))
def test_the_column_of_a_metric_is_its_last_values_as_attribute_metric_and_column(name):
    (cell, *_) = (row[1] for row in COSTLY.table([name], sort="given").rows)
    last = COSTLY.curves(name)[COSTLY.agents[0]][:, -1]
    np.testing.assert_array_equal(cell, bootstrap_interval(last))
    if hasattr(COSTLY, name):
        np.testing.assert_array_equal(getattr(COSTLY, name)[COSTLY.agents[0]][:, -1], last)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"columns": "regret"}, "columns must be a list of names, such as .*, got \"?'regret"),
        ({"columns": ["diference"]}, r"unknown column 'diference' \(did you mean 'difference'\?\)"),
        ({"columns": []}, "columns must be a list of names"),
        ({"columns": ["regret", "regret"]}, "columns must be names that differ"),
        ({"baseline": "GP-UBC"}, "baseline must be None or one of .*, got 'GP-UBC'"),
        ({"style": "+-"}, 'style must be "interval" or "±", got \'\\+-\''),
        ({"sort": "regert"}, r"unknown column 'regert' \(did you mean 'regret'\?\)"),
        ({"metric": "simple"}, r"unknown metric 'simple' \(did you mean 'simple_regret'\?\)"),
        ({"metric": "budget_regret"}, "metric must be what .* has, got 'budget_regret'"),
    ],
)
def test_what_a_table_does_not_take_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        COSTLY.table(**arguments)


def test_a_baseline_and_a_metric_decide_about_differences_and_medians():
    table = COSTLY.table(["median", "difference"], baseline="sdf", metric="simple_regret")
    last = {label: curve[:, -1] for label, curve in COSTLY.simple_regret.items()}
    assert table.header == ("agent", "median [10, 90 %]", "minus sdf")
    found = {row[0]: row[2] for row in table.rows}
    assert found["sdf"] is None
    np.testing.assert_array_equal(found["random"], paired_difference(last["random"], last["sdf"]))
    assert [row[0] for row in table.rows] == sorted(last, key=lambda label: last[label].mean())


def test_rows_are_sorted_by_a_column_either_way_and_those_without_a_number_are_last():
    regret = {label: curve[:, -1].mean() for label, curve in COSTLY.regret.items()}
    ascending = sorted(regret, key=regret.__getitem__)
    for sort, order in (("regret", ascending), ("-regret", ascending[::-1]), ("given", COSTLY.agents)):
        assert [row[0] for row in COSTLY.table(sort=sort).rows] == order
    by_difference = COSTLY.table(baseline="sdf", sort="difference")
    assert by_difference.rows[-1][0] == "sdf"


def test_half_widths_are_printed_where_intervals_would_be_except_of_quantiles():
    table = COSTLY.table(["regret", "median"], style="±", sort="given")
    interval = table.rows[0][1]
    assert isinstance(interval, Interval)
    estimate, half = map(float, table.texts[0][1].split(" ± "))
    assert estimate == pytest.approx(float(interval.estimate), rel=5e-3)
    assert half == pytest.approx((float(interval.high) - float(interval.low)) / 2, rel=5e-3)
    assert re.fullmatch(r"\S+ \[\S+, \S+\]", table.texts[0][2])
    assert "± half the width of 95 %" in " ".join(table.notes)
    assert r"$\pm$" in table.to_latex()


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(
    "columns", [None, ["regret", "difference", "median", "simple_regret", "first_unsafe"]]
)
def test_no_label_heading_or_interval_breaks_inside_at_any_width(width, columns):
    table = COSTLY.table(columns)
    lines = printed_at(table, width)
    assert max(map(len, lines)) <= width
    shown = [i for i, name in enumerate(table.header) if i == 0 or left_out(lines).count(name) == 0]
    assert columns is None or len(shown) == 1 + len(columns)  # what is asked for is printed, further below
    text = "\n".join(lines)
    for i in shown[1:]:
        assert all(piece in text for row in table.texts for piece in row[i].split(" ["))
        assert all(word in text for word in re.findall(r"\[.*?\]|\S+", table.header[i]))
    if width >= 80:
        assert "gp-ucb-noiseless-constraints" in text


def left_out(lines: list[str]) -> list[str]:
    """The headings that the first note names."""
    found = re.search(r"Left out at \d+ characters: (.*?)\. \d+ trials", " ".join(map(str.strip, lines)))
    return [] if found is None else re.split(r", (?![^\[]*\])", found[1])


def printed_at(table: Table, width: int) -> list[str]:
    console = Console(width=width, file=io.StringIO())
    console.print(table)
    return console.file.getvalue().splitlines()  # pyright: ignore
