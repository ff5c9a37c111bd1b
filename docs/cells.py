"""Cells of tables that stay in one line: numbers with their intervals, and short names with hyphens."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes

_NUMBERS = re.compile(r"[-\d.,:e+%†§≈* \[\]()/]+")
_NAME = re.compile(r"\S{1,16}")


def keep_in_one_line(app: Any, document: nodes.document) -> None:
    """Mark them with the class `one-line` (an event handler of `doctree-read`)."""
    for cell in document.findall(nodes.entry):
        text = cell.astext()
        if _NUMBERS.fullmatch(text) or _NAME.fullmatch(text):
            cell["classes"].append("one-line")
