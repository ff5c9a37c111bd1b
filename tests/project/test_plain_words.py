"""Docstrings are sentences: hardly any opens with a relative clause or a fragment."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = [
    "agents",
    "bandit_envs",
    "gpbandits",
]
FRAGMENTS = ("What", "Whether", "How", "Of", "The same")
MOST = 0.01  # of all docstrings of a package
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def openings(folder: Path) -> Iterator[str]:
    """Yield place and first line of every docstring below a folder."""
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            said = ast.get_docstring(node) if isinstance(node, DOCUMENTED) else None
            if said:
                yield f"{path.relative_to(ROOT)}: {said.splitlines()[0]}"


@pytest.mark.parametrize("package", PACKAGES)
def test_docstrings_open_with_a_sentence(package: str) -> None:
    said = list(openings(ROOT / package))
    fragments = [
        each for each in said if each.partition(": ")[2].startswith(tuple(f"{f} " for f in FRAGMENTS))
    ]
    assert len(said) > 100
    assert len(fragments) < MOST * len(said), "\n".join(fragments)
