"""A table of labels, numbers and intervals, as text that fits a terminal, data, Markdown or LaTeX.

What does not fit a line is changed in this order: headings break between words, intervals stand below their
estimates, columns that can be spared are left out, and what remains continues in a further block below.
"""

from __future__ import annotations

import dataclasses
import re
import shutil
import sys
from collections.abc import Sequence
from functools import cached_property
from itertools import chain, zip_longest
from textwrap import wrap
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bandit_envs.basics.arguments import from_extra, require, require_known
from bandit_envs.basics.notebook import html_table, printable
from gpbandits.evaluation.formats import Cell, Style, csv_text, emphasised, latex, markdown, parts, pieces
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
        terminal = sys.stdout is not None and sys.stdout.isatty()  # elsewhere text may be wide
        width = shutil.get_terminal_size().columns if terminal else None
        laid, notes = self._laid_out(width, "{}*")
        lines = [(" " * GAP).join(cell.text for cell in line) for line in laid]
        said = chain.from_iterable(wrap(note, width) if width else [note] for note in notes)
        return "\n".join([printable(self.title), *lines, *said])

    def _laid_out(self, width: int | None, bold: str = "{}") -> tuple[list[Line], list[str]]:
        """Return the lines of the table within a width, and its notes, which name the columns left out."""
        last = emphasised([[cell[-1] for cell in row] for row in self._pieces], self.bold, bold)
        rows = [
            [[*cell[:-1], end] for cell, end in zip(row, ends, strict=True)]
            for row, ends in zip(self._pieces, last, strict=True)
        ]
        header = [*map(printable, self.header)]
        spared = [self.header.index(name) for name in self.spared if name in self.header]
        lines, gone = laid_out(header, rows, spared, width)
        left_out = ", ".join(header[i] for i in gone)
        narrow = [f"Left out at {width} characters: {left_out}."] if left_out else []
        return lines, [*narrow, *map(printable, self.notes)]

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
        named = zip(self.names or self.header, spans, strict=True)
        header = [[name, *(f"{name}_{end}" for end in ("low", "high") if span)] for name, span in named]
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

        lines, notes = self._laid_out(options.max_width)
        bold = self.bold or {(0, j) for j in range(len(self.header))}
        yield Text(printable(self.title), style="bold")
        for line in lines:
            cells = [(cell.text, "bold" if (cell.row, cell.column) in bold else "") for cell in line]
            gaps = chain.from_iterable([(" " * GAP, ""), cell] for cell in cells)
            yield Text.assemble(*[*gaps][1:], no_wrap=True, overflow="ignore")
        yield from (Text(note, style="dim") for note in notes)


GAP = 2  # characters between columns
RULE = "─"
JOINED = "\N{NO-BREAK SPACE}"  # at which `wrap` does not break
Pieces = Sequence[str]  # of a cell, which never break: an estimate, its interval
Column = list[list[str]]  # the lines of the heading and of each row


class PrintedCell(NamedTuple):
    """A cell of a printed line."""

    row: int  # -1 of headings and rules
    column: int
    text: str  # padded


Line = list[PrintedCell]  # beside each other with a gap


def laid_out(
    header: Sequence[str], rows: Sequence[Sequence[Pieces]], spared: Sequence[int], width: int | None
) -> tuple[list[Line], list[int]]:
    """Return the printed lines within a width, or without one of one line a row, and the columns left out.

    Those of `spared` are left out where they do not fit, the first first.
    """
    columns, most = [*range(len(header))], width or sys.maxsize  # a terminal of unknown width has 0
    for broken in (False, True):
        made = [_column(header[i], [[" ".join(row[i])] for row in rows], broken) for i in columns]
        if _need(made) <= most:
            return _framed([_block(made, columns)]), []
    labels = (header[0], *(" ".join(row[0]) for row in rows))  # break where they take more than half
    made = [[wrap(text, max(most // 2, 1)) or [""] for text in labels]]
    made += [_column(header[i], [list(row[i]) for row in rows], broken=True) for i in columns[1:]]
    shown, left_out = columns, []
    for i in spared:
        if _need([made[j] for j in shown]) > most:
            shown, left_out = [j for j in shown if j != i], [*left_out, i]
    parts = [shown[:1]]  # of each block, the labels and as many more as fit, one at least
    for i in shown[1:]:
        if len(parts[-1]) > 1 and _need([made[j] for j in (*parts[-1], i)]) > most:
            parts.append(shown[:1])
        parts[-1] = [*parts[-1], i]
    return _framed([_block([made[j] for j in part], part) for part in parts]), left_out


def _column(heading: str, cells: Column, broken: bool) -> Column:
    """Return the lines of a column; a broken heading breaks between words, of which brackets hold one."""
    if not broken:
        return [[heading], *cells]
    words = re.findall(r"\[[^\]]*\]|\S+", heading)
    joined = " ".join(word.replace(" ", JOINED) for word in words)
    most = max([1, *map(len, words), *(len(line) for cell in cells for line in cell)])
    lines = wrap(joined, most, break_long_words=False, break_on_hyphens=False)
    return [[line.replace(JOINED, " ") for line in lines] or [""], *cells]


def _size(column: Column) -> int:
    return max(len(line) for cell in column for line in cell)


def _need(columns: Sequence[Column]) -> int:
    return sum(map(_size, columns)) + GAP * (len(columns) - 1)


def _block(made: Sequence[Column], columns: Sequence[int]) -> list[Line]:
    sizes = [*map(_size, made)]
    lines = []
    for row in range(len(made[0])):
        for texts in zip_longest(*(column[row] for column in made), fillvalue=""):
            padded = [text.rjust(size) for text, size in zip(texts, sizes, strict=True)]
            padded[0] = texts[0].ljust(sizes[0])
            lines.append([PrintedCell(row - 1, i, text) for i, text in zip(columns, padded, strict=True)])
    return lines


def _framed(blocks: Sequence[list[Line]]) -> list[Line]:
    """Return the lines of all blocks with a rule above and below their headings, and at the end."""
    lines: list[Line] = []
    rule: Line = []
    for block in blocks:
        length = sum(len(cell.text) for cell in block[0]) + GAP * (len(block[0]) - 1)
        rule = [PrintedCell(-1, 0, RULE * length)]
        head, body = ([line for line in block if (line[0].row < 0) == first] for first in (True, False))
        lines += [rule, *head, rule, *body]
    return [*lines, rule]
