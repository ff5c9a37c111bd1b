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
LATER = (  # code is still being rewritten there; the list is to become empty
    "agents/agent/",
    "agents/saving/",
    "agents/algorithms/admmbo.py",
    "agents/algorithms/bandit_oco.py",
    "agents/algorithms/constrained_ei",
    "agents/beliefs/by_name.py",
    "agents/beliefs/surrogates.py",
    "agents/box/acquisition_surface.py",
    "agents/model/plays.py",
    "agents/objectives/safe.py",
    "agents/options.py",
)
FRAGMENTS = ("What", "Whether", "How", "Of", "The same")
MOST = 0.01  # of all docstrings of a package
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def openings(folder: Path) -> Iterator[str]:
    """Yield place and first line of every docstring below a folder."""
    for path in sorted(folder.rglob("*.py")):
        if path.relative_to(ROOT).as_posix().startswith(LATER):
            continue
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
