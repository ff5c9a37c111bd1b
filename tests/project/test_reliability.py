"""The page of promises names tests that exist."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (.+?) \| ((?:`tests/[\w/.]+` ?)+) \|$", PAGE, re.MULTILINE)


def has_tests(file: str) -> bool:
    """Whether a file defines test functions."""
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    return any(isinstance(each, ast.FunctionDef) and each.name.startswith("test_") for each in tree.body)


@pytest.mark.parametrize(("promise", "files"), ROWS)
def test_a_promise_is_held_by_the_tests_that_the_page_names(promise, files):
    assert all(map(has_tests, re.findall(r"`(.+?)`", files))), promise
