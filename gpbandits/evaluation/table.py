"""A table of labels, numbers and intervals, as text that fits a terminal, data, Markdown or LaTeX."""

from __future__ import annotations

import dataclasses
import shutil
import sys
from collections.abc import Sequence
from functools import cached_property
from itertools import chain
from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np

from bandit_envs.basics.arguments import from_extra, require, require_known
from bandit_envs.basics.notebook import html_table, printable
from gpbandits.evaluation.formats import Cell, Style, csv_text, emphasised, latex, markdown, parts, pieces
from gpbandits.evaluation.layout import GAP, Grid, Layout, laid_out
from gpbandits.evaluation.statistics import Interval

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console, ConsoleOptions, RenderResult


@dataclasses.dataclass(frozen=True)
class Table:
    """A table of labels, numbers and intervals, which prints as aligned columns and on a rich console.

    Cells in bold are given by row and column; as text they are followed by an asterisk. None is a dash.
    Columns of `signed` headings are differences, printed with their signs; those of `spared` are left out
    first where a terminal is too narrow, see `layout`.
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...]
    bold: frozenset[tuple[int, int]] = frozenset()
    name: str = ""  # stem of its files in a report
    signed: frozenset[str] = frozenset()
    names: tuple[str, ...] = ()  # of the columns in data, such as "simple_regret"; by default the header
    spared: tuple[str, ...] = ()
    style: Style = "interval"

    @cached_property
    def texts(self) -> tuple[tuple[str, ...], ...]:
        """Return the cells as text."""
        return tuple(tuple(map(" ".join, row)) for row in self._pieces)

    @cached_property
    def _pieces(self) -> list[list[list[str]]]:
        """Return the pieces of each cell; the brackets of a heading say what those of its cells hold."""
        styles: list[Style] = ["interval" if "[" in name else self.style for name in self.header]
        signs = [name in self.signed for name in self.header]
        return [list(map(pieces, row, signs, styles)) for row in self.rows]

    def __str__(self) -> str:
        width = _terminal()
        layout, notes = self._laid_out(width, "{}*")
        lines = [(" " * GAP).join(cell.text for cell in line) for line in layout.lines]
        said = chain.from_iterable(wrap(note, width) if width else [note] for note in notes)
        return "\n".join([printable(self.title), *lines, *said])

    def _laid_out(self, width: int | None, bold: str = "{}") -> tuple[Layout, list[str]]:
        """Return the table within a width and its notes, which name the columns left out."""
        last = emphasised([[cell[-1] for cell in row] for row in self._pieces], self.bold, bold)
        rows = [
            [[*cell[:-1], end] for cell, end in zip(row, ends, strict=True)]
            for row, ends in zip(self._pieces, last, strict=True)
        ]
        header = [*map(printable, self.header)]
        spared = [self.header.index(name) for name in self.spared if name in self.header]
        layout = laid_out(Grid(header, rows, spared), width)
        left_out = ", ".join(header[i] for i in layout.left_out)
        narrow = [f"Left out at {width} characters: {left_out}."] if left_out else []
        return layout, [*narrow, *map(printable, self.notes)]

    def _repr_html_(self) -> str:
        return html_table(self.title, self.header, self.texts, self.notes, self.bold)

    def select(self, columns: Sequence[str]) -> Table:
        """Return the table of the labels and some columns, by name, in this order.

        Example:
            >>> few = {"num_arms": 20, "horizon": 30}
            >>> result = evaluate("GPBandit-GP-v0", ["gp-ucb", "random"], trials=2, env_kwargs=few)
            >>> assert result.table().select(["regret"]).header == ("agent", "regret")
        """
        require(not isinstance(columns, str) and columns, "columns", "a list of names of columns", columns)
        known = list(self.names or self.header)
        for name in columns:
            require_known("column", name, known[1:])
        kept = [0, *(known.index(name) for name in columns)]
        return dataclasses.replace(
            self,
            header=tuple(self.header[i] for i in kept),
            names=tuple(self.names[i] for i in kept) if self.names else (),
            rows=tuple(tuple(row[i] for i in kept) for row in self.rows),
            bold=frozenset((i, kept.index(j)) for i, j in self.bold if j in kept),
        )

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas DataFrame of labels and numbers; an interval has columns for its ends.

        Numbers of trials are in `Result.to_frame`.

        Example:
            >>> few = {"num_arms": 20, "horizon": 30}
            >>> result = evaluate("GPBandit-GP-v0", ["gp-ucb", "random"], trials=2, env_kwargs=few)
            >>> frame = result.table().to_frame()
            >>> width = frame["regret_high"] - frame["regret_low"]
        """
        with from_extra("eval", "data frames"):
            import pandas as pd

        header, rows = self._numbers()
        return pd.DataFrame(
            [[np.nan if part is None else part for part in row] for row in rows], columns=header
        )

    def to_csv(self) -> str:
        """Return comma-separated values with all digits; an interval has columns for its ends."""
        header, rows = self._numbers()
        return csv_text([header, *(["" if part is None else part for part in row] for row in rows)])

    def _numbers(self) -> tuple[list[str], list[list[str | float | None]]]:
        """Return names and rows with an interval in three columns; what is missing is None."""
        spans = [any(isinstance(row[i], Interval) for row in self.rows) for i in range(len(self.header))]
        joint = "_" if self.names else " "
        named = zip(self.names or self.header, spans, strict=True)
        header = [[name, *(f"{name}{joint}{end}" for end in ("low", "high") if span)] for name, span in named]
        rows = [[parts(*each) for each in zip(row, spans, strict=True)] for row in self.rows]
        return list(chain(*header)), [list(chain(*row)) for row in rows]

    def to_markdown(self) -> str:
        """Return a Markdown table with the notes below."""
        return markdown(self.header, self.texts, self.notes, self.bold)

    def to_latex(
        self, caption: str | None = None, label: str | None = None, columns: Sequence[str] | None = None
    ) -> str:
        """Return a LaTeX table with the rules of booktabs and the notes below.

        Args:
            caption: text of the caption; by default the title and the first note, the size.
            label: label that `\\ref` names; by default none.
            columns: names of the columns to keep, in this order; by default all.
        """
        kept = self if columns is None else self.select(columns)
        said = caption is None
        first, notes = (" ".join(kept.notes[:1]), kept.notes[1:]) if said else ("", kept.notes)
        text = f"{self.title}. {first}".strip() if caption is None else caption
        return latex(text, kept.header, kept.texts, notes, kept.bold, label)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.text import Text

        layout, notes = self._laid_out(options.max_width)
        bold = self.bold or {(0, j) for j in range(len(self.header))}
        yield Text(printable(self.title), style="bold")
        for line in layout.lines:
            cells = [(cell.text, "bold" if (cell.row, cell.column) in bold else "") for cell in line]
            gaps = chain.from_iterable([(" " * GAP, ""), cell] for cell in cells)
            yield Text.assemble(*[*gaps][1:], no_wrap=True, overflow="ignore")
        yield from (Text(note, style="dim") for note in notes)


def _terminal() -> int | None:
    """Return the characters of a line of the terminal; None where text goes elsewhere, and may be wide."""
    return shutil.get_terminal_size().columns if sys.stdout is not None and sys.stdout.isatty() else None
