"""Docstrings are wrapped to the width of a terminal; formulas and code stay as they are."""

import re
from collections.abc import Callable
from textwrap import fill

_ITEM = re.compile(r" +(\*{0,2}\w+(, )?)+: ")  # "    name, other: description"
_TITLES = ("Args:", "Returns:", "Raises:")  # blocks of prose; other blocks, such as examples, hold code
_STEP = "    "


def filled(text: str, width: int) -> str:
    """Wrap the paragraphs and items of a cleaned docstring.

    A paragraph with indented lines or list items stays as it is.
    """
    return "\n\n".join("\n".join(_block(block.split("\n"), width)) for block in text.split("\n\n"))


def _block(lines: list[str], width: int) -> list[str]:
    if lines[0] in _TITLES:
        return [lines[0], *(_filled(item, width) for item in _joined(lines[1:], _begins_item))]
    if any(line.startswith((" ", "- ", "|", ">>>")) for line in lines):
        return lines
    return [_filled(item, width) for item in _joined(lines, lambda line: False)]


def _begins_item(line: str) -> bool:
    return _ITEM.match(line) is not None and not line.startswith(_STEP * 2)


def _joined(lines: list[str], begins: Callable[[str], bool]) -> list[str]:
    """Join the lines of each item into one."""
    items: list[str] = []
    for line in lines:
        if not items or begins(line):
            items.append(line)
        else:
            items[-1] += " " + line.strip()
    return items


def _filled(item: str, width: int) -> str:
    indent = item[: len(item) - len(item.lstrip())]
    return fill(
        item.strip(),
        width,
        initial_indent=indent,
        subsequent_indent=indent and indent + _STEP,
        break_long_words=False,
        break_on_hyphens=False,
    )
