"""The page on large problems says what its stored tables say."""

import csv
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "large.md").read_text(encoding="utf-8")
MARKS = [line.split()[1] for line in PAGE.splitlines() if line.startswith("<!-- ")]


@pytest.mark.parametrize("name", MARKS)
def test_the_page_on_large_problems_says_what_was_measured(name):
    with (DOCS / "results" / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        header, *rows = [f"| {' | '.join(row)} |" for row in csv.reader(file)]
    table = PAGE[PAGE.index(f"<!-- {name} -->") :].split("\n\n")[1].splitlines()
    assert table[0] == header
    assert table[2:] == rows
    assert rows
