"""Code keeps the style guide: the field's words, sentences in docstrings, and one form of parts."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from pages import ROOT

PACKAGES = ("bandit_envs", "agents", "gpbandits")  # in the order in which they know each other
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@cache
def sources() -> dict[str, ast.Module]:
    paths = (path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py")))
    return {p.relative_to(ROOT).as_posix(): ast.parse(p.read_text(encoding="utf-8")) for p in paths}


@cache
def classes() -> dict[str, list[tuple[str, ast.ClassDef]]]:
    found = defaultdict(list)
    for path, tree in sources().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                found[node.name].append((path, node))
    return found


# --- words ---

ANYWHERE = """
told knows came comes arrives stands disappoints alone lone apart aside alike gate gates room rooms
roomy crew crews turn turns diary journal terrain terrains landscape landscapes polish polished
polishing struck pull pulls pulled deviation deviations outlook outlooks
"""
WHOLE = "there side_by_side SideBySide Several Holds Board Snapping LateTables EachModelled OfCosts"
WORDS, NAMES = frozenset(ANYWHERE.split()), frozenset(WHOLE.split())
OF_MODULES = frozenset({"past", "view", "several"})  # which in functions are plain
OF_BELIEFS = frozenset({"centre", "spread"})  # which elsewhere are a point and a range
PARTS_OF_A_NAME = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")
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


def refused(path: str, tree: ast.Module) -> list[str]:
    """Return the identifiers of a module that have another word than the field's."""

    def words(name: str) -> set[str]:
        return {part.lower() for part in PARTS_OF_A_NAME.findall(name)}

    banned, stem = (
        NAMES | (OF_BELIEFS if path.startswith("agents/beliefs/") else frozenset()),
        Path(path).stem,
    )
    found = {name for name in identifiers(tree) if name in banned or WORDS & words(name)}
    found |= {stem} if stem in NAMES | OF_MODULES or WORDS & words(stem) else set()
    return sorted(name for name in found if (path, name) not in KEPT)


def test_identifiers_use_the_words_of_the_field():
    assert len(sources()) > 250
    found = {path: refused(path, tree) for path, tree in sources().items()}
    assert {path: names for path, names in found.items() if names} == {}
    assert all(name in identifiers(sources()[path]) for path, name in KEPT)


def test_no_two_classes_share_a_name():
    homes = {name: [path for path, _ in found] for name, found in classes().items()}
    assert {name: paths for name, paths in homes.items() if len(paths) > 1} == {}


# --- docstrings ---


@pytest.mark.parametrize("package", PACKAGES)
def test_docstrings_open_with_a_sentence(package):
    trees = (tree for path, tree in sources().items() if path.startswith(f"{package}/"))
    nodes = (node for tree in trees for node in ast.walk(tree) if isinstance(node, DOCUMENTED))
    said = [text.splitlines()[0] for text in map(ast.get_docstring, nodes) if text]
    fragments = [each for each in said if each.startswith(("What ", "Whether ", "How ", "Of ", "The same "))]
    assert len(said) > 100
    assert len(fragments) < 0.01 * len(said), "\n".join(fragments)


def public_methods(node: ast.ClassDef) -> list[ast.FunctionDef]:
    """Magic methods are described by their class, and overloads by what they are of."""
    defined = [each for each in node.body if isinstance(each, ast.FunctionDef)]
    overloads = [each for each in defined if "overload" in map(ast.unparse, each.decorator_list)]
    return [each for each in defined if not each.name.startswith("_") and each not in overloads]


def is_described(node: ast.ClassDef, name: str) -> bool:
    if any(ast.get_docstring(each) for each in public_methods(node) if each.name == name):
        return True
    bases = [ast.unparse(base).partition("[")[0].rpartition(".")[2] for base in node.bases]
    return any(is_described(base, name) for each in bases for _, base in classes().get(each, []))


def test_every_public_method_is_described_by_itself_or_by_what_it_overrides():
    public = [node for found in classes().values() for _, node in found if not node.name.startswith("_")]
    named = [(node, method.name) for node in public for method in public_methods(node)]
    assert len(public) > 400
    assert [f"{node.name}.{name}" for node, name in named if not is_described(node, name)] == []


# --- texts ---

TEXTS = [
    *(path for folder in (*PACKAGES, "examples", "benchmarks") for path in (ROOT / folder).rglob("*.py")),
    *(path for path in (ROOT / "docs").rglob("*.md") if "generated" not in path.parts),
    ROOT / "README.md",
]
BANNED = (
    r"\b(?:is|are|was|were|once|nobody) told\b|\btold apart\b|\bnews (?:comes|came)\b"
    r"|\bnothing arrives\b|\bcomes? late\b"
)


def test_no_text_has_a_phrase_of_the_style_guide_s_left_column():
    found = {str(path): re.findall(BANNED, path.read_text(encoding="utf-8")) for path in TEXTS}
    assert len(found) > 300
    assert {name: lines for name, lines in found.items() if lines} == {}


# --- abilities of parts have neutral defaults; boxes and sets are asked one question ---

ABLE = {"agent", "player", "watched", "rule", "belief", "objective", "restart", "part", "given", "then"}
PARTS = {"rule", "belief", "objective", "restart", "incumbent", "domain", "assumptions", "part"}


@cache
def nodes() -> list[tuple[str, ast.AST]]:
    """Every node but those of an `assert`, which tells a type checker what is known, with its place."""

    def outside_asserts(tree: ast.AST) -> Iterator[ast.AST]:
        for child in ast.iter_child_nodes(tree):
            if not isinstance(child, ast.Assert):
                yield child
                yield from outside_asserts(child)

    return [
        (f"{path}:{getattr(node, 'lineno', 0)}", node)
        for path, tree in sources().items()
        for node in outside_asserts(tree)
    ]


def calls(of: str) -> Iterator[tuple[str, ast.Call, str]]:
    """Yield the calls of a built-in function, with its place and the last name of its first argument."""
    for place, node in nodes():
        if isinstance(node, ast.Call) and ast.unparse(node.func) == of and node.args:
            last = ast.unparse(node.args[0]).split(".")[-1].lstrip("_")
            yield f"{place} {ast.unparse(node)}", node, last


def test_abilities_of_parts_are_asked_for_at_the_edges_alone():
    found = [place for place, _, last in calls("hasattr") if last in ABLE]
    found += [place for place, node, last in calls("getattr") if len(node.args) == 3 and last in ABLE]
    assert 0 < len(found) <= 6, "\n".join(found)  # the adapters of plug-ins


def test_no_part_of_an_agent_is_asked_for_its_type():
    compared = {id(node.left) for _, node in nodes() if isinstance(node, ast.Compare)}
    of_type = [place for place, node, last in calls("type") if last in PARTS and id(node) in compared]
    asked = [
        (place, last) for place, node, last in calls("isinstance") if isinstance(node.args[0], ast.Attribute)
    ]
    assert not [*of_type, *(place for place, last in asked if last in PARTS)]


def test_no_function_is_written_for_boxes_beside_one_for_sets_and_delivery_has_one_form():
    functions = [node for _, node in nodes() if isinstance(node, ast.FunctionDef)]
    assert not [node.name for node in functions if node.name.endswith("_on_box")]
    found = {tuple(arg.arg for arg in node.args.args) for node in functions if node.name == "receive"}
    assert ("self", "delivery") in found
    assert len(found) <= 3, found
    assert all("delivery" in each for each in found), found
