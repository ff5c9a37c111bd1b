"""Every public method says what it does, by its own docstring or by that of the method it overrides."""

from __future__ import annotations

import ast
from collections import defaultdict
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]


@cache
def classes() -> dict[str, list[ast.ClassDef]]:
    """All classes of the packages by name; only laws of different kinds share one."""
    found = defaultdict(list)
    for package in ("agents", "bandit_envs", "gpbandits"):
        for path in sorted((ROOT / package).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ClassDef):
                    found[node.name].append(node)
    return found


def methods(node: ast.ClassDef) -> list[ast.FunctionDef]:
    """Public ones; magic methods are described by their class, and overloads by what they are of."""
    defined = [each for each in node.body if isinstance(each, ast.FunctionDef)]
    return [each for each in defined if not each.name.startswith("_") and "overload" not in decorators(each)]


def decorators(method: ast.FunctionDef) -> set[str]:
    return {ast.unparse(each) for each in method.decorator_list}


def is_described(node: ast.ClassDef, name: str) -> bool:
    own = [each for each in methods(node) if each.name == name]
    if any(ast.get_docstring(each) for each in own):
        return True
    bases = [ast.unparse(base).partition("[")[0].rpartition(".")[2] for base in node.bases]
    return any(is_described(base, name) for each in bases for base in classes().get(each, []))


def test_every_public_method_is_described():
    public = [node for nodes in classes().values() for node in nodes if not node.name.startswith("_")]
    silent = [
        f"{node.name}.{method.name}"
        for node in public
        for method in methods(node)
        if not is_described(node, method.name)
    ]
    assert len(public) > 400
    assert silent == []
