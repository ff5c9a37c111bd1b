"""The page of promises counts the tests that hold them."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (.+?) \| ((?:`tests/[\w/.]+` ?)+) \| (\d+) \|$", PAGE, re.MULTILINE)


def functions_of(file: str) -> int:
    """Test functions of a file."""
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    return sum(isinstance(each, ast.FunctionDef) and each.name.startswith("test_") for each in tree.body)


@pytest.mark.parametrize(("promise", "files", "count"), ROWS)
def test_a_promise_is_held_by_as_many_tests_as_the_page_says(promise, files, count):
    assert sum(map(functions_of, re.findall(r"`(.+?)`", files))) == int(count) > 0, promise


def test_every_row_of_the_table_is_counted():
    first = PAGE[: PAGE.index("## ")]
    assert len(ROWS) == sum(line.startswith("| ") for line in first.splitlines()) - 1  # the head
