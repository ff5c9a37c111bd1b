"""Cells of tables that stay in one line: numbers with their intervals, and short names."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes

_NUMBERS = re.compile(r"(?:[-\d.,:e+±%†§≈* \[\]()/]|\b(?:of|times)\b)+")
_NAME = re.compile(r".{1,16}")
_WORD = re.compile(r"\S{1,16}")  # of a heading, which may be higher than a line


def keep_in_one_line(app: Any, document: nodes.document) -> None:
    """Mark them with the class `one-line` (an event handler of `doctree-read`)."""
    for cell in document.findall(nodes.entry):
        text = cell.astext()
        name = _WORD if isinstance(cell.parent.parent, nodes.thead) else _NAME
        if _NUMBERS.fullmatch(text) or name.fullmatch(text):
            cell["classes"].append("one-line")
