"""Tables of one's own: CSV, Parquet or a data frame, with the scale that is recognised for each column."""

import os
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bandit_envs.basics.arguments import ArgumentError, from_extra, require, require_choice, shown
from bandit_envs.basics.files import csv_names, csv_rows, row_error
from bandit_envs.basics.types import Bools, Floats
from bandit_envs.data.runs import GridAxis

EXAMPLE = "digits.csv"  # ships: training runs of a network, several seeds each
DECADES = 100.0  # largest over smallest of positive values from which a scale is taken for logarithmic
SCALES = ("linear", "log", "category")


class OwnTable(NamedTuple):
    """Hold the cells of a table by column, (R,) each: numbers where all cells are, else text."""

    columns: Mapping[str, Any]
    rows: Any = None  # of the file, (R,), from 0; None if it has these rows alone

    def numbers(self, name: str) -> Floats:
        """Return a column of finite numbers, or raise for its first cell that is none, by row."""
        cells = self.cells(name)
        if cells.dtype.kind == "f":
            return cells
        row = next(i for i, cell in enumerate(cells.tolist()) if _number(cell) is None)
        raise row_error(self.row(row), f"must have a number in column {name!r}, got {str(cells[row])!r}")

    def positive(self, name: str, what: str) -> Floats:
        """Return a column of positive numbers, or raise for its first cell that is none, by row."""
        values = self.numbers(name)
        wrong = np.flatnonzero(values <= 0.0)
        if len(wrong):
            words = f"must have a positive number in column {name!r}, {what}, got {values[wrong[0]]:g}"
            raise row_error(self.row(int(wrong[0])), words)
        return values

    def cells(self, name: str) -> Any:
        """Return a column without missing cells, or raise."""
        require(name in self.columns, "column", f"one of {', '.join(self.columns)}", name)
        cells = self.columns[name]
        missing = np.isnan(cells) if cells.dtype.kind == "f" else cells == ""
        if missing.any():
            row = self.row(int(missing.argmax()))
            raise row_error(row, f"must have every column that is used, got no {name!r}")
        return cells

    def row(self, row: int) -> int:
        """Return the number of a row in the file, from 0."""
        return row if self.rows is None else int(self.rows[row])

    def without(self, never: Any, columns: Sequence[str]) -> "OwnTable":
        """Return the rows that agree with no entry of `never`, a dict of some columns or a list of them."""
        entries = [never] if isinstance(never, Mapping) else [] if never is None else never
        listed = isinstance(entries, list | tuple) and all(isinstance(each, Mapping) for each in entries)
        known = listed and all(each and set(each) <= set(columns) for each in entries)
        require(known, "never", f"a dict of some of {', '.join(columns)}, or a list of them", never)
        if not entries:
            return self
        kept = np.ones(len(self.cells(columns[0])), dtype=bool)
        for entry in entries:
            barred = np.logical_and.reduce([self._equal(name, value) for name, value in entry.items()])
            require(barred.any(), "never", "entries that some row of the table agrees with", entry)
            kept &= ~barred
        require(kept.any(), "never", "entries that leave a row of the table", never)
        return OwnTable({name: cells[kept] for name, cells in self.columns.items()}, np.flatnonzero(kept))

    def _equal(self, name: str, value: Any) -> Bools:
        """Return which rows have a value in a column, (R,)."""
        cells = self.cells(name)
        return cells == (_number(value) if cells.dtype.kind == "f" else str(value))


class ReadAxis(NamedTuple):
    """Hold a column that describes arms or contexts."""

    name: str
    scale: str
    values: tuple[Any, ...]  # ascending
    features: Floats  # of each value, (n, k)

    @property
    def said(self) -> str:
        """Return how the column was read, in words."""
        ends = f"{len(self.values)} values from {self.values[0]} to {self.values[-1]}"
        words = {"linear": "linear", "log": "logarithmic"}
        if self.scale == "category":
            return f"{self.name}: {len(self.values)} categories"
        return f"{self.name}: {ends}, on a {words[self.scale]} scale"


def read_table(source: Any) -> OwnTable:
    """Read a CSV or Parquet file, a data frame, or a mapping from names to columns; None is the example."""
    if source is None:
        source = str(files("bandit_envs.data").joinpath("tables", EXAMPLE))
    if isinstance(source, str | os.PathLike):
        known = "a CSV or Parquet file, whose path counts from the working folder"
        require(Path(source).is_file(), "file", known, os.fspath(source))
        columns = _parquet(source) if Path(source).suffix == ".parquet" else _csv(source)
    else:
        columns = _frame(source)
    return OwnTable({str(name): _typed(cells) for name, cells in columns.items()})


def read_axis(table: OwnTable, name: str, scale: str | None = None) -> ReadAxis:
    """Return a column's values and their features in [0, 1]; text is a category, decades are logarithmic."""
    cells = table.cells(name)
    values = np.unique(cells)
    positive = cells.dtype.kind == "f" and values[0] > 0.0
    if scale is None:
        _require_one_kind(table, name, cells)
        spread = positive and values[-1] / values[0] >= DECADES
        scale = "category" if cells.dtype.kind != "f" else "log" if spread else "linear"
    require_choice(f"scales[{name!r}]", scale, SCALES)
    usable = scale == "category" or positive or (scale == "linear" and cells.dtype.kind == "f")
    require(usable, f"scales[{name!r}]", "'category' of text, and 'log' of positive numbers alone", scale)
    axis = GridAxis(tuple(range(len(values))) if scale == "category" else tuple(values.tolist()), scale)
    features = axis.unit if len(values) > 1 else np.zeros((1, 1))
    return ReadAxis(name, scale, tuple(values.tolist()), features)


def _require_one_kind(table: OwnTable, name: str, cells: Any) -> None:
    """Raise where text stands among numbers: a slip would make categories of all."""
    if cells.dtype.kind == "f":
        return
    odd = [i for i, cell in enumerate(cells.tolist()) if _number(cell) is None]
    if 2 * len(odd) < len(cells):
        words = f"must have a number in column {name!r}, as most rows have, got {str(cells[odd[0]])!r}"
        raise row_error(table.row(odd[0]), f'{words}; or take scales={{{name!r}: "category"}}')


def _csv(path: str | os.PathLike[str]) -> dict[str, list[str]]:
    names = csv_names(path, "file")
    rows = [[cell.strip() for cell in cells] for cells in csv_rows(path, "file")]
    require(rows, "file", "a table with a row below its header", "none")
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))


def _parquet(path: str | os.PathLike[str]) -> dict[str, list[Any]]:
    with from_extra("data", "Parquet files"):
        import pyarrow.parquet
    return pyarrow.parquet.read_table(path).to_pydict()


def _frame(source: Any) -> dict[str, list[Any]]:
    try:
        names = list(source if isinstance(source, Mapping) else source.columns)
        columns = {name: list(source[name]) for name in names}
    except (AttributeError, TypeError):
        known = "a path, a data frame or a mapping from names to columns"
        raise ArgumentError("file", f"must be {known}, got {shown(source)}") from None
    lengths = {len(cells) for cells in columns.values()}
    require(len(lengths) == 1 and lengths != {0}, "file", "columns of one length, with a row", lengths)
    return columns


def _typed(cells: Sequence[Any]) -> Any:
    """Return cells as numbers, NaN where there is none, or else all as text, "" where there is none."""
    numbers = [_number(cell) if not _missing(cell) else np.nan for cell in cells]
    if None not in numbers:
        return np.array(numbers, dtype=np.float64)
    return np.array(["" if _missing(cell) else str(cell) for cell in cells])


def _missing(cell: Any) -> bool:
    if cell is None or isinstance(cell, str):
        return not cell
    try:
        return bool(cell != cell)  # NaN differs from itself
    except TypeError:  # as does the NA of pandas, which has no truth
        return True


def _number(cell: Any) -> float | None:
    try:
        value = float(cell)
    except (TypeError, ValueError):
        return None
    return value if np.isfinite(value) else None
