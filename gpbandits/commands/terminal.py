"""Text on a terminal: its width, filled prose and formulas."""

import os
import re
import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from textwrap import fill
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from bandit_envs.basics.notebook import printable

_ITEM = re.compile(r" +(\*{0,2}\w+(, )?)+: ")  # "    name, other: description"
_TITLES = ("Args:", "Returns:", "Raises:")  # blocks of prose; other blocks, such as examples, hold code
_STEP = "    "
NARROW = 100  # columns of the terminal, below which a table omits some of its own


def filled(text: str, width: int) -> str:
    """Wrap the paragraphs and items of a cleaned docstring; indented lines and lists stay as they are."""
    return "\n\n".join("\n".join(_block(block.split("\n"), width)) for block in text.split("\n\n"))


def _block(lines: list[str], width: int) -> list[str]:
    titled = lines[0] in _TITLES
    if not titled and any(line.startswith((" ", "- ", "|", ">>>")) for line in lines):
        return lines
    items: list[str] = []
    for line in lines[titled:]:
        begins = titled and _ITEM.match(line) is not None and not line.startswith(_STEP * 2)
        if not items or begins:
            items.append(line)
        else:
            items[-1] += " " + line.strip()
    return [*lines[:titled], *(_filled(item, width) for item in items)]


def _filled(item: str, width: int) -> str:
    indent = item[: len(item) - len(item.lstrip())]
    layout: Any = {"initial_indent": indent, "subsequent_indent": indent and indent + _STEP}
    return fill(item.strip(), width, break_long_words=False, break_on_hyphens=False, **layout)


class _PlainConsole(Console):
    """A plain console prints control characters as escapes: labels and errors of a study are untrusted."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Yield the segments with escaped text; rich's own control segments stay as they are."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else escaped(text), style, control)


def escaped(text: str) -> str:
    """Replace C0 and C1 control characters by escapes, except tabs and ends of lines."""
    return printable(text, spared="\t\n")


def completed(module: str, names: str, *others: str) -> Callable[[str], list[str]]:
    """Return what completes names of a module, a collection or a function of one, imported when asked."""

    def complete(incomplete: str) -> list[str]:
        known: Any = getattr(import_module(module), names)
        found: Any = known() if callable(known) else known
        return [each for each in (*others, *found) if each.startswith(incomplete)]

    return complete


def console(stderr: bool = False) -> Console:
    """Return a console without markup, as a study may be named "[bold"; in a pipe it has COLUMNS or 140."""
    known = stderr or sys.stdout.isatty() or "COLUMNS" in os.environ
    return _PlainConsole(stderr=stderr, highlight=False, markup=False, width=None if known else 140)


def print_rows(
    title: str, header: tuple[str, ...], rows: list[tuple[str, ...]], spared: tuple[str, ...] = ()
) -> None:
    """Print a table whose first column, the name to type, never breaks; narrow terminals omit some."""
    terminal = console()
    shown = [i for i, name in enumerate(header) if terminal.width >= NARROW or name not in spared]
    layout: Any = {"box": SIMPLE_HEAD, "padding": 0, "pad_edge": False, "title_justify": "left"}
    table = Table(title=title, **layout)
    for i in shown:
        table.add_column(header[i], overflow="fold", no_wrap=i == 0)
    for row in rows:
        table.add_row(*(Text(row[i]) for i in shown))
    terminal.print(table)


def print_faults(faults: Iterable[str]) -> None:
    """Print which files of cells are not used, and why."""
    for reason in faults:
        said = Text(f"{reason}; the cell counts as missing, and the next run computes it.")
        console().print(said, soft_wrap=True)
