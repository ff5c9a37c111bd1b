"""Tables of measurements: a CSV under `docs/results`, and the same rows on a page."""

from __future__ import annotations

import argparse
import csv
import re
from collections.abc import Callable, Iterable, Sequence
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


def measure(
    doc: str | None,
    name: str,
    header: Sequence[str],
    rows: Callable[[int], Iterable[Sequence[str]]],
    runs: int,
    page: Path,
) -> None:
    """Print each line of a table once it is measured, `--runs` times over, and `--write` the whole."""
    parser = argparse.ArgumentParser(description=(doc or "").partition("\n")[0])
    parser.add_argument("--runs", type=int, default=runs)
    parser.add_argument("--write", action="store_true", help="store the table, and put it on its page")
    options = parser.parse_args()
    lines = []
    for row in rows(options.runs):
        lines.append(row)
        print(" | ".join(row), flush=True)
    if options.write:
        write(name, header, lines, page)
