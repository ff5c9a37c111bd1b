"""Tables of measurements: CSV files under `docs/results`, which pages include."""

from __future__ import annotations

import argparse
import csv
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"


def write(name: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Store a table."""
    with (DOCS / "results" / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])


def measure(
    doc: str | None,
    name: str,
    header: Sequence[str],
    rows: Callable[[int], Iterable[Sequence[str]]],
    runs: int,
) -> None:
    """Print each line of a table once it is measured, `--runs` times over, and `--write` the whole."""
    parser = argparse.ArgumentParser(description=(doc or "").partition("\n")[0])
    parser.add_argument("--runs", type=int, default=runs)
    parser.add_argument("--write", action="store_true", help="store the table")
    options = parser.parse_args()
    lines = []
    for row in rows(options.runs):
        lines.append(row)
        print(" | ".join(row), flush=True)
    if options.write:
        write(name, header, lines)
