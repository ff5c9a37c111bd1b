"""Show text that is not ours: escaped in terminals, and in notebooks as small tables without colours."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from html import escape
from typing import Any

import numpy as np

LONGEST = 200  # characters of a value
FEW = 4  # numbers that are shown; a longer array is shown by its shape
LEFT = ' style="text-align:left"'  # notebooks align cells right

_CONTROLS = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160))}


def printable(text: str, spared: str = "") -> str:
    """Replace C0 and C1 control characters by escapes, as labels are untrusted: a terminal obeys some."""
    return text.translate({code: shown for code, shown in _CONTROLS.items() if chr(code) not in spared})


def html_table(
    title: str,
    header: Sequence[str],
    rows: Iterable[Sequence[str]],
    notes: Iterable[str] = (),
    bold: Collection[tuple[int, int]] = frozenset(),
) -> str:
    """Return cells of text as an HTML table with its title above and its notes below."""
    head = f"<thead><tr>{_cells('th', header)}</tr></thead>" if header else ""
    body = "".join(
        f"<tr>{_cells('td', row, [j for at, j in bold if at == i])}</tr>" for i, row in enumerate(rows)
    )
    below = "".join(f"<div><small>{escape(note)}</small></div>" for note in notes)
    return f"<div><strong>{escape(title)}</strong><table>{head}<tbody>{body}</tbody></table>{below}</div>"


def html_facts(title: str, facts: Mapping[str, str]) -> str:
    """Return names and their values as an HTML table, one a row."""
    return html_table(title, (), facts.items())


def brief(value: Any) -> str:
    """Return a value on one line, shortened: an array by its shape, a dataclass by its fields."""
    if isinstance(value, np.ndarray) and not 0 < value.size <= FEW:
        return f"array{value.shape}"
    text = repr(value)
    if is_dataclass(value) and not isinstance(value, type):
        given = {each.name: getattr(value, each.name) for each in fields(value) if each.repr}
        shown = [f"{name}={brief(part)}" for name, part in given.items() if part is not None]
        text = f"{type(value).__name__}({', '.join(shown)})"
    text = " ".join(text.split())
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


def _cells(tag: str, texts: Sequence[str], bold: Collection[int] = ()) -> str:
    plain = list(map(escape, texts))
    inner = (f"<strong>{text}</strong>" if j in bold else text for j, text in enumerate(plain))
    return "".join(f"<{tag}{LEFT}>{text}</{tag}>" for text in inner)
