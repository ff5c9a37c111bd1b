"""Tables of measurements: a CSV under `docs/results`, and the same rows on a page."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
PAGE = DOCS / "large.md"


def write(name: str, header: Sequence[str], rows: Sequence[Sequence[str]], on: Path = PAGE) -> None:
    """Store a table, and put it on a page in place of the one behind its mark, `<!-- name -->`."""
    with (DOCS / "results" / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])
    page = on.read_text(encoding="utf-8")
    mark = f"<!-- {name} -->\n"
    place = re.compile(rf"{mark}(\n(\|.*\n)+)?")
    on.write_text(place.sub(lambda found: f"{mark}\n{as_markdown(header, rows)}", page), encoding="utf-8")


def as_markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The table, numbers to the right."""
    last = rows[-1] if rows else header
    rule = ["---:" if re.fullmatch(r"[\d.]*", cell) else "---" for cell in last]
    return "".join(f"| {' | '.join(line)} |\n" for line in (header, rule, *rows))
