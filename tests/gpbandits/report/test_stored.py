"""Pages include stored tables, which show what the tables in Markdown showed."""

import pytest

from gpbandits.evaluation.statistics import Interval
from gpbandits.evaluation.table import Table
from gpbandits.report.stored import (
    cells_of,
    included,
    read_cells,
    rounded,
    tables_in,
    with_files,
    write_including,
)

PAGE = """# Page

|a| <= b is a line of prose.

| agent | regret |
|---|---:|
| `a \\| b` | 1 |
|  | +0.5 |

Between.

| x |
|---|
| 2, "3" |
"""
FIRST = [["agent", "regret"], [r"`a \| b`", "1"], ["", "+0.5"]]


def test_tables_of_a_text_are_its_markdown_tables_in_order():
    assert tables_in(PAGE) == [FIRST, [["x"], ['2, "3"']]]
    assert cells_of(["| 1 | 2 |", "| - | - |"]) == [["1", "2"], ["-", "-"]]  # no rule


def test_a_text_with_files_keeps_all_but_its_tables():
    text = with_files(PAGE, ["one.csv", "more/two.csv"])
    assert text.split(included("one.csv")) == [
        "# Page\n\n|a| <= b is a line of prose.\n\n",
        f"\n\nBetween.\n\n{included('more/two.csv')}\n",
    ]


def test_what_is_written_is_read(tmp_path):
    write_including(PAGE, tmp_path / "page.md", ["one.csv", "more/two.csv"])
    assert (tmp_path / "page.md").read_text() == with_files(PAGE, ["one.csv", "more/two.csv"])
    found = [read_cells(tmp_path / name) for name in ("one.csv", "more/two.csv")]
    assert found == tables_in(PAGE)
    assert (tmp_path / "one.csv").read_text().splitlines()[2] == ",+0.5"


def test_a_page_with_more_or_fewer_tables_than_files_is_not_written(tmp_path):
    for files in (["one.csv"], ["one.csv", "two.csv", "three.csv"]):
        with pytest.raises(ValueError, match="argument 2"):
            write_including(PAGE, tmp_path / "page.md", files)
        assert not (tmp_path / "page.md").exists()


def test_a_rounded_file_of_all_digits_has_the_cells_that_the_table_prints(tmp_path):
    rows = (
        ("a = b†", 1, Interval(0.123456, -0.001, 12.3456), 1234.5678),
        ("c", 20, Interval(1e-5, float("nan"), float("nan")), 0.0),
        ("d", 3, Interval(0.0, -1.0, 1.0), None),
    )
    table = Table("", ("agent", "rank", "score", "ms"), rows, ())
    path = tmp_path / "table.csv"
    path.write_text(table.to_csv())
    assert rounded(read_cells(path)) == [list(table.header), *map(list, table.texts)]
