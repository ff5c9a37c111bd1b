"""Source code is hashed by its syntax tree, without comments, docstrings and layout."""

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
)  # they determine a cell's numbers
SHOWING = "gpbandits.evaluation.result"  # imports tables, figures and files, which change no numbers
PICTURES = {"bandit_envs": "rendering", "agents": "tuning/pictures"}  # folders that only draw, by package
_SUFFIXES = (".py", ".so", ".pyd", ".csv", ".toml")  # of code and of the tables that it reads


@cache
def digest(package: str) -> str:
    """Return the hash of a package, or of a module with the neighbouring modules that it imports.

    For `gpbandits` only the modules that a cell's numbers depend on are hashed.
    """
    files = _playing() if package == "gpbandits" else _files(package)
    total = hashlib.sha256()
    for path in sorted(files):
        total.update(path.name.encode() + _meaning(path))
    return total.hexdigest()[:16]


def _playing() -> set[Path]:
    """Return the modules of the lab that compute cells, with all that they import of it, lazily or not."""
    spec = find_spec("gpbandits")
    assert spec is not None  # this module belongs to it
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
    """Return the files of a package or of a module."""
    spec = find_spec(package)
    if spec is None:
        return set()
    if spec.submodule_search_locations is None:
        return _with_neighbours(Path(spec.origin)) if spec.origin else set()
    return {path for place in spec.submodule_search_locations for path in _below(Path(place), package)}


def _below(place: Path, package: str) -> Iterator[Path]:
    """Yield the code and the tables in the folder of a package, without its code for pictures."""
    pictures = place / PICTURES[package] if package in PICTURES else None
    return (path for path in place.rglob("*") if path.suffix in _SUFFIXES and pictures not in path.parents)


def _with_neighbours(module: Path) -> set[Path]:
    """Return a module and the modules of its folder that it imports, recursively; others have a version."""

    def find(name: str) -> Path | None:
        beside = module.with_name(f"{name.split('.')[0]}.py")
        return beside if beside.is_file() else None

    return _closure([module], find)


def _closure(roots: list[Path], find: Callable[[str], Path | None]) -> set[Path]:
    """Return files and all that they import, recursively, as far as `find` locates it."""
    known, new = set[Path](), set(roots)
    while new:
        known |= new
        imported = {find(name) for path in new if path.suffix == ".py" for name in _imported(path)}
        new = {path for path in imported if path} - known
    return known


def _imported(module: Path) -> set[str]:
    """Return the names imported anywhere in a module; `from a import b` gives `a` and `a.b`."""
    nodes = list(ast.walk(ast.parse(module.read_bytes())))
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


def _meaning(path: Path) -> bytes:
    """Return a module's syntax tree without docstrings, positions and comments; other files unchanged."""
    content = path.read_bytes()
    if path.suffix != ".py":
        return content
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError):  # written for another Python, or a template
        return content
    return " ".join(_words(tree)).encode()


def _words(tree: ast.AST) -> list[str]:
    """Flatten a syntax tree without docstrings into words, twice as fast as a transformer and `ast.dump`."""
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
    """Return True for a statement that is a string, such as a docstring."""
    return (
        isinstance(part, ast.Expr)
        and isinstance(part.value, ast.Constant)
        and isinstance(part.value.value, str)
    )
