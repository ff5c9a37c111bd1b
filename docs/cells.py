"""Cells of tables: numbers and short names stay in one line; an interval may go below its mean."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes

_NUMBERS = re.compile(r"(?:[-\d.,:e+±%†§≈* \[\]()/]|\b(?:of|times)\b)+")
_INTERVAL = re.compile(r"(\[[^]]*\](?: ?[*†§%])*|± ?\S+(?: ?[*†§])*)")
_NAME = re.compile(r".{1,16}")
_PARTS = re.compile(r"(?<=\w/)(?=\w)|(?<=[a-z])(?=[A-Z])")  # of a name in a heading, which may go on below
_WORD = re.compile(r"\S{1,10}")  # of a heading, which may be higher than a line


def keep_in_one_line(app: Any, document: nodes.document) -> None:
    """Mark them with the class `one-line` (an event handler of `doctree-read`)."""
    for cell in document.findall(nodes.entry):
        text, heading = cell.astext(), isinstance(cell.parent.parent, nodes.thead)
        if heading:
            for part in [*cell.findall(nodes.Text)]:
                part.parent.replace(part, nodes.Text(_PARTS.sub("\u200b", part.astext())))
        name = _WORD if heading else _NAME
        if _NUMBERS.fullmatch(text) and _INTERVAL.search(text):
            _mark_intervals(cell)
        elif _NUMBERS.fullmatch(text) or name.fullmatch(text):
            cell["classes"].append("one-line")


def _mark_intervals(cell: nodes.entry) -> None:
    for text in [*cell.findall(nodes.Text)]:
        parts = _INTERVAL.split(text.astext())  # every second one is an interval
        marked = [
            nodes.inline("", part, classes=["one-line"]) if i % 2 else nodes.Text(part)
            for i, part in enumerate(parts)
        ]
        text.parent.replace(text, marked)
