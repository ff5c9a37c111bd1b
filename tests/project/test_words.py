"""Identifiers use the field's words, and a class name says which class is meant."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("agents", "bandit_envs", "gpbandits")
BANNED = """
told knows came comes arrives stands disappoints alone lone apart aside alike gate gates room rooms
roomy crew crews turn turns diary journal terrain terrains landscape landscapes polish polished
polishing struck pull pulls pulled deviation deviations outlook outlooks
"""
WORDS = frozenset(BANNED.split())
WHOLE = """
there side_by_side SideBySide Several Holds Board Snapping LateTables EachModelled OfCosts
"""
NAMES = frozenset(WHOLE.split())
OF_MODULES = frozenset({"past", "view", "several"})  # which in functions are plain
OF_BELIEFS = frozenset({"centre", "spread"})  # which elsewhere are a point and a range
PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")
KEPT = {  # with the reason
    ("bandit_envs/laws/play_costs.py", "deviation"),  # a keyword of environments
    ("bandit_envs/problems/real.py", "deviation"),  # a key of real_priors.toml
}


def identifiers(tree: ast.Module) -> Iterator[str]:
    """Yield the names of classes with their fields, of functions with their arguments, and of attributes."""
    for node in ast.walk(tree):
        match node:
            case ast.ClassDef(name=name, body=body):
                yield name
                yield from (each.target.id for each in body if isinstance(each, ast.AnnAssign))  # pyright: ignore
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.arg(arg=name):
                yield name
            case ast.Attribute(attr=name, ctx=ast.Store()):
                yield name


def refused(path: str, source: str) -> list[str]:
    """Return the identifiers of a module that have another word than the field's."""
    names, stem = set(identifiers(ast.parse(source))), Path(path).stem
    banned = NAMES | (OF_BELIEFS if path.startswith("agents/beliefs/") else frozenset())
    found = {name for name in names if name in banned or WORDS & words_of(name)}
    found |= {stem} if stem in NAMES | OF_MODULES or WORDS & words_of(stem) else set()
    return sorted(name for name in found if (path, name) not in KEPT)


def words_of(name: str) -> set[str]:
    """Return the words of an identifier, in lower case."""
    return {part.lower() for part in PARTS.findall(name)}


def modules() -> dict[str, str]:
    """Return the source of every module of the packages, by its path."""
    paths = (path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py")))
    return {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in paths}


def shared_names(sources: dict[str, str]) -> dict[str, list[str]]:
    """Return the names of several classes, with the modules of these."""
    homes = defaultdict(list)
    for path, source in sources.items():
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.ClassDef):
                homes[node.name].append(path)
    return {name: places for name, places in homes.items() if len(places) > 1}


def test_identifiers_use_the_words_of_the_field() -> None:
    sources = modules()
    assert len(sources) > 300
    found = {path: refused(path, source) for path, source in sources.items()}
    assert {path: names for path, names in found.items() if names} == {}


def test_what_is_kept_is_there() -> None:
    sources = modules()
    assert all(name in identifiers(ast.parse(sources[path])) for path, name in KEPT)


def test_no_two_classes_share_a_name() -> None:
    assert shared_names(modules()) == {}
