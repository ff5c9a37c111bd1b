"""What every command prints with."""

import os
import sys
from collections.abc import Iterable
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

NARROW = 100  # columns, below which a table spares some of its own

_CONTROLS = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\t\n"}


class _PlainConsole(Console):
    """Prints control characters of texts as escapes: errors and labels may come from a stranger's folder."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Yield the segments; those that rich controls the terminal with are left as they are."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else escaped(text), style, control)


def escaped(text: str) -> str:
    """Write the C0 and C1 control characters of a text as escapes, but for tabs and ends of lines."""
    return text.translate(_CONTROLS)


def console(stderr: bool = False) -> Console:
    """Standard output or errors; a file or a pipe has the width that COLUMNS says, or a wide one.

    Text is what it is, also "[bold": names of studies are no markup.
    """
    known = stderr or sys.stdout.isatty() or "COLUMNS" in os.environ
    return _PlainConsole(stderr=stderr, highlight=False, markup=False, width=None if known else 140)


def print_rows(
    title: str, header: tuple[str, ...], rows: list[tuple[str, ...]], spared: tuple[str, ...] = ()
) -> None:
    """Print a table of text, of which the first column, what one types, is never broken.

    Args:
        title: above.
        header, rows: of all columns.
        spared: names of columns for which a narrow terminal has no room.
    """
    terminal = console()
    shown = [i for i, name in enumerate(header) if terminal.width >= NARROW or name not in spared]
    layout: Any = {"box": SIMPLE_HEAD, "padding": 0, "pad_edge": False, "title_justify": "left"}
    table = Table(title=title, **layout)
    for i in shown:
        table.add_column(header[i], overflow="fold", no_wrap=i == 0)
    for row in rows:
        table.add_row(*(Text(row[i]) for i in shown))
    terminal.print(table)


def print_faults(faults: list[str]) -> None:
    """Say which files of cells do not count, and why."""
    for reason in faults:
        console().print(
            Text(f"{reason}; the cell counts as missing, and a run computes it anew."), soft_wrap=True
        )
