"""Parts have one form: abilities with neutral defaults, one question for sets and boxes, and one delivery."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("agents", "bandit_envs", "gpbandits")
ABLE = {"agent", "player", "watched", "rule", "belief", "objective", "restart", "part", "given", "then"}
PARTS = {"rule", "belief", "objective", "restart", "incumbent", "domain", "assumptions", "part"}
MOST_ASKED = 6
MOST_SIGNATURES = 3


@cache
def nodes(*packages: str) -> list[tuple[str, ast.AST]]:
    """Return every node of the packages but those of an `assert`, with its place."""
    paths = (path for package in packages for path in sorted((ROOT / package).rglob("*.py")))
    trees = ((path.relative_to(ROOT), ast.parse(path.read_text(encoding="utf-8"))) for path in paths)
    return [
        (f"{path}:{getattr(node, 'lineno', 0)}", node)
        for path, tree in trees
        for node in outside_asserts(tree)
    ]


def outside_asserts(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a tree; an `assert` tells a type checker what is known already."""
    for child in ast.iter_child_nodes(tree):
        if not isinstance(child, ast.Assert):
            yield child
            yield from outside_asserts(child)


def calls(of: str, packages: tuple[str, ...]) -> Iterator[tuple[str, ast.Call, str]]:
    """Yield the calls of a built-in function, with its place and the last name of its first argument."""
    for place, node in nodes(*packages):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == of and node.args:
            last = ast.unparse(node.args[0]).split(".")[-1].lstrip("_")
            yield f"{place} {ast.unparse(node)}", node, last


def signatures(method: str) -> set[tuple[str, ...]]:
    """Return the distinct lists of arguments with which a method is defined."""
    defined = (node for _, node in nodes(*PACKAGES) if isinstance(node, ast.FunctionDef))
    return {tuple(arg.arg for arg in each.args.args) for each in defined if each.name == method}


def test_abilities_of_parts_are_asked_for_at_the_edges_alone():
    found = [place for place, _, last in calls("hasattr", PACKAGES) if last in ABLE]
    with_default = ((place, last) for place, node, last in calls("getattr", PACKAGES) if len(node.args) == 3)
    found += [place for place, last in with_default if last in ABLE]
    assert found  # the adapters of plug-ins
    assert len(found) <= MOST_ASKED, "\n".join(found)


def test_no_part_of_an_agent_is_asked_for_its_type():
    compared = {id(node.left) for _, node in nodes(*PACKAGES) if isinstance(node, ast.Compare)}
    of_type = [
        place for place, node, last in calls("type", PACKAGES) if last in PARTS and id(node) in compared
    ]
    of_class = [
        place
        for place, node, last in calls("isinstance", PACKAGES)
        if last in PARTS and isinstance(node.args[0], ast.Attribute)
    ]
    assert not [*of_type, *of_class]


def test_no_function_is_written_for_boxes_beside_one_for_sets():
    named = (node.name for _, node in nodes(*PACKAGES) if isinstance(node, ast.FunctionDef))
    assert not [name for name in named if name.endswith("_on_box")]


def test_what_a_round_delivered_is_received_in_one_form():
    found = signatures("receive")
    assert ("self", "delivery") in found
    assert len(found) <= MOST_SIGNATURES, found
    assert all("delivery" in each for each in found), found
