"""Docstrings are sentences: hardly any opens with a relative clause or a fragment."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ["agents", "bandit_envs", "gpbandits"]
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


TEXTS = [
    *(path for folder in (*PACKAGES, "examples", "benchmarks") for path in (ROOT / folder).rglob("*.py")),
    *(path for path in (ROOT / "docs").rglob("*.md") if "generated" not in path.parts),
    ROOT / "README.md",
]
BANNED = (
    r"\b(?:is|are|was|were|once|nobody) told\b|\btold apart\b|\bnews (?:comes|came)\b"
    r"|\bnothing arrives\b|\bcomes? late\b"
)


def test_no_text_has_a_phrase_of_the_style_guide_s_left_column() -> None:
    assert len(TEXTS) > 300
    found = {
        str(path.relative_to(ROOT)): re.findall(BANNED, path.read_text(encoding="utf-8")) for path in TEXTS
    }
    assert {name: lines for name, lines in found.items() if lines} == {}
