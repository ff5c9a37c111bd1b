"""Tables that pages in Markdown include from CSV files, so that each table is stored once.

On a site of MyST the directive `csv-table` shows the file; elsewhere a link below it leads there.
"""

import csv
import io
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from bandit_envs.basics.files import write_whole
from gpbandits.evaluation.formats import text
from gpbandits.evaluation.statistics import Interval

Cells = list[list[str]]  # of a table as it is printed, its heading first

_TABLE = re.compile(r"^\|.*\n\|[ |:-]+(?:\n\|.*)*$", re.MULTILINE)
_RULE = re.compile(r"\|(?: *:?-{3,}:? *\|)+")
_BETWEEN = re.compile(r"(?<!\\)\|")
ENDS = ("_low", "_high")  # of the names of columns that hold the ends of an interval


def included(file: str, *options: str) -> str:
    """Return the lines of a page that show a stored table, by the path of its file from the page.

    Example:
        >>> print(included("results/boxes.csv").splitlines()[-1])
        [CSV](results/boxes.csv)
    """
    lines = ["```{csv-table}", f":file: {file}", ":header-rows: 1", *options, "```"]
    return "\n".join([*lines, "", f"[CSV]({file})"])


def cells_of(lines: Iterable[str]) -> Cells:
    """Return the cells of the lines of a Markdown table, without the rule below its heading.

    Example:
        >>> cells_of(["| agent | regret |", "|---|---|", "| random | 1.5 |"])
        [['agent', 'regret'], ['random', '1.5']]
    """
    kept = [line for line in lines if not _RULE.fullmatch(line)]
    return [[cell.strip() for cell in _BETWEEN.split(line.strip()[1:-1])] for line in kept]


def tables_in(page: str) -> list[Cells]:
    """Return the cells of each Markdown table of a text, in its order."""
    return [cells_of(found[0].splitlines()) for found in _TABLE.finditer(page)]


def with_files(page: str, files: Sequence[str], *options: str) -> str:
    """Return a text that includes these files in place of its Markdown tables, in its order."""
    left = iter(files)
    return _TABLE.sub(lambda _: included(next(left), *options), page)


def write_including(text: str, page: Path, files: Sequence[str]) -> None:
    """Write a page that includes each of its Markdown tables from a file, by its path from the page."""
    for file, table in zip(files, tables_in(text), strict=True):
        write_cells(table, page.parent / file)
    write_whole(page, with_files(text, files).encode())


def write_cells(table: Cells, path: Path) -> None:
    """Write a printed table as CSV. Cells are not quoted for spreadsheets: "+0.3" is a number of the page."""
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerows(table)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, written.getvalue().encode())


def read_cells(path: Path) -> Cells:
    """Return the cells of a CSV file, its heading first."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def rounded(table: Cells) -> Cells:
    """Return the cells of a table of all digits, see `Table.to_csv`, as pages print them.

    The first column has labels, the others have numbers; those of the ends of an interval join its estimate.

    Example:
        >>> rounded([["agent", "score", "score_low", "score_high"], ["random", "0.25", "0.125", "0.5"]])
        [['agent', 'score'], ['random', '0.250 [0.125, 0.500]']]
    """
    (label, *header), *rows = table
    names = [name for name in header if not name.endswith(ENDS)]
    shown = [[label, *names]]
    for first, *row in rows:
        values = dict(zip(header, row, strict=True))
        shown.append([first, *(_rounded(values, name) for name in names)])
    return shown


def _rounded(values: dict[str, str], name: str) -> str:
    value, ends = values[name], [values[name + end] for end in ENDS if name + end in values]
    if not value:
        return text(None)
    if ends:
        return text(Interval(*np.array([each or "nan" for each in (value, *ends)], dtype=np.float64)))
    return text(int(value) if value.isdigit() else float(value))
