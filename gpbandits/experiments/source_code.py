"""Hashes of code by what it does: comments, docstrings and layout are no part of them."""

import ast
import hashlib
from collections.abc import Callable, Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

PLAYING = (
    "gpbandits.evaluation.loop",
    "gpbandits.experiments.checkpoints",
)  # what a cell's numbers come from
SHOWING = "gpbandits.evaluation.result"  # where numbers end: tables, figures and files lie behind it
PICTURES = {
    "bandit_envs": "rendering",
    "agents": "tuning/pictures",
}  # folder of a package that shows numbers and does not make them
_SUFFIXES = (".py", ".so", ".pyd", ".csv", ".toml")  # of code and of the tables that it reads


@cache
def digest(package: str) -> str:
    """The hash of a package's code; or of a module's, and of the modules beside it that it imports.

    Of ours, the hash of the code that numbers depend on.
    """
    files = _playing() if package == "gpbandits" else _files(package)
    total = hashlib.sha256()
    for path in sorted(files):
        total.update(path.name.encode() + _meaning(path))
    return total.hexdigest()[:16]


def _playing() -> set[Path]:
    """The modules of the lab in which cells are played, and whatever they import of it, lazily or not."""
    spec = find_spec("gpbandits")
    assert spec is not None  # it is asking
    assert spec.origin is not None
    root = Path(spec.origin).parents[1]

    def find(name: str) -> Path | None:
        path = root.joinpath(*name.split("."))
        places = (path.with_suffix(".py"), path / "__init__.py")
        ours = name.startswith("gpbandits.") and name != SHOWING
        return next((place for place in places if ours and place.is_file()), None)

    roots = [path for path in map(find, PLAYING) if path]
    return _closure(roots, find)


def _files(package: str) -> set[Path]:
    """The files of a package, or of a module."""
    spec = find_spec(package)
    if spec is None:
        return set()
    if spec.submodule_search_locations is None:
        return _with_neighbours(Path(spec.origin)) if spec.origin else set()
    return {path for place in spec.submodule_search_locations for path in _below(Path(place), package)}


def _below(place: Path, package: str) -> Iterator[Path]:
    """The code and the tables in the folder of a package, but for pictures."""
    apart = place / PICTURES[package] if package in PICTURES else None
    return (path for path in place.rglob("*") if path.suffix in _SUFFIXES and apart not in path.parents)


def _with_neighbours(module: Path) -> set[Path]:
    """A module and those in its folder that it imports, and so on; others come with a version."""

    def find(name: str) -> Path | None:
        beside = module.with_name(f"{name.split('.')[0]}.py")
        return beside if beside.is_file() else None

    return _closure([module], find)


def _closure(roots: list[Path], find: Callable[[str], Path | None]) -> set[Path]:
    """Files and what they import, and so on, of what is to be found."""
    known, new = set[Path](), set(roots)
    while new:
        known |= new
        imported = {find(name) for path in new if path.suffix == ".py" for name in _imported(path)}
        new = {path for path in imported if path} - known
    return known


def _imported(module: Path) -> set[str]:
    """What a module imports anywhere in it; of `from a import b`, which may be a module, `a` and `a.b`."""
    nodes = list(ast.walk(ast.parse(module.read_bytes())))
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


def _meaning(path: Path) -> bytes:
    """The syntax tree of a module without docstrings, positions and comments; other files as they are."""
    content = path.read_bytes()
    if path.suffix != ".py":
        return content
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError):  # of another Python, or a template
        return content
    return " ".join(_words(tree)).encode()


def _words(tree: ast.AST) -> list[str]:
    """A syntax tree as words; half the time of `ast.dump` after a transformer, and there are 200 modules."""
    words: list[str] = []

    def visit(part: Any) -> None:
        if isinstance(part, ast.AST):
            if _is_text(part):
                return
            words.append(part.__class__.__name__)
            for name in part._fields:
                visit(getattr(part, name, None))
        elif isinstance(part, list):
            words.append("[")
            for each in part:
                visit(each)
            words.append("]")
        else:
            words.append(repr(part))

    visit(tree)
    return words


def _is_text(part: ast.AST) -> bool:
    """Whether it is a statement that is a string, such as a docstring."""
    return (
        isinstance(part, ast.Expr)
        and isinstance(part.value, ast.Constant)
        and isinstance(part.value.value, str)
    )
