"""Abilities of agents, rules and beliefs have neutral defaults, so that hardly any code asks who has them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PARTS = {"agent", "player", "rule", "belief", "objective", "restart", "part", "given", "then"}
MOST = 6


def questions(package: str) -> Iterator[str]:
    """Yield each `hasattr` of a part, and each `getattr` of one with a default, with its place."""
    for path in sorted((ROOT / package).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and _asks(node):
                yield f"{path.relative_to(ROOT)}:{node.lineno} {ast.unparse(node)}"


def _asks(node: ast.Call) -> bool:
    assert isinstance(node.func, ast.Name)
    asks = node.func.id == "hasattr" or (node.func.id == "getattr" and len(node.args) == 3)
    return asks and ast.unparse(node.args[0]).split(".")[-1].lstrip("_") in PARTS


def test_abilities_of_parts_are_asked_for_at_the_edges_alone():
    found = [*questions("agents"), *questions("gpbandits")]
    assert len(found) <= MOST, "\n".join(found)
