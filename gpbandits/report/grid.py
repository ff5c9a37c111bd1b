"""A grid is a table of numbers and intervals, with notes on n and the methods, for HTML, CSV and LaTeX."""

import csv
import dataclasses
import io

import numpy as np

from gpbandits.evaluation.formats import MISSING, inert, latex, markdown
from gpbandits.evaluation.statistics import Interval
from gpbandits.evaluation.table import interval_text, number

Cell = str | int | float | Interval | None


@dataclasses.dataclass(frozen=True)
class Grid:
    """A grid holds rows of labels, numbers and intervals; None prints as a dash."""

    name: str  # stem of its files
    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...]  # n, and the methods of intervals and p-values
    bold: frozenset[tuple[int, int]] = frozenset()  # row and column

    def texts(self) -> list[list[str]]:
        """Return the cells as text."""
        return [[text(cell) for cell in row] for row in self.rows]

    def csv(self) -> str:
        """Return CSV with all digits; an interval has columns for its ends."""
        spans = [any(isinstance(row[i], Interval) for row in self.rows) for i in range(len(self.header))]
        lines = io.StringIO()
        writer = csv.writer(lines, lineterminator="\n")
        writer.writerow(
            inert(column)
            for name, is_interval in zip(self.header, spans, strict=True)
            for column in ([name, f"{name} low", f"{name} high"] if is_interval else [name])
        )
        for row in self.rows:
            writer.writerow(
                inert(part) for cell, wide in zip(row, spans, strict=True) for part in _parts(cell, wide)
            )
        return lines.getvalue()

    def markdown(self) -> str:
        """Return a Markdown table with its notes below."""
        return markdown(self.header, self.texts(), self.notes, self.bold)

    def latex(self) -> str:
        """Return a LaTeX table with booktabs rules and the notes as caption, shrunk to the line width."""
        return latex(self.title, self.header, self.texts(), self.notes, self.bold)


def text(cell: Cell) -> str:
    """Return a cell as tables print it."""
    match cell:
        case None:
            return MISSING
        case str():
            return cell
        case Interval():
            return interval_text(cell)
        case int():
            return str(cell)
        case _:
            return number(float(cell))


def p_text(p_value: float) -> str:
    """Return a p-value to three decimals, or "< 0.001"."""
    if np.isnan(p_value):
        return MISSING
    return "< 0.001" if p_value < 0.001 else f"{p_value:.3f}"


def _parts(cell: Cell, wide: bool) -> list[str | float]:
    if isinstance(cell, Interval):
        return ["" if np.isnan(part) else float(part) for part in cell]
    return [cell if cell is not None else "", *([""] * 2 if wide else [])]
