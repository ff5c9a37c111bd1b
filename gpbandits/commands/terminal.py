"""What every command prints with."""

import sys

from rich.console import Console
from rich.table import Table
from rich.text import Text


def console() -> Console:
    """Standard output; a file or a pipe has no width, for which rich would assume a narrow one.

    Text is what it is, also "[bold": names of studies are no markup.
    """
    return Console(highlight=False, markup=False, width=None if sys.stdout.isatty() else 140)


def print_rows(title: str, header: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    """Print a table of text."""
    table = Table(title=title, title_justify="left")
    for name in header:
        table.add_column(name, overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    console().print(table)


def print_faults(faults: list[str]) -> None:
    """Say which files of cells do not count, and why."""
    for reason in faults:
        console().print(
            Text(f"{reason}; the cell counts as missing, and a run computes it anew."), soft_wrap=True
        )
