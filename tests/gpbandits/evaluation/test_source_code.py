"""Code is hashed by what it does: no text, no layout and no picture is part of it, and every number is."""

from __future__ import annotations

import ast
import re
import shutil
from importlib.machinery import PathFinder
from pathlib import Path

import pytest

from gpbandits.evaluation import provenance
from gpbandits.evaluation.provenance import OURS

ROOT = Path(__file__).parents[3]
SHOWING = re.compile(r"\bimport matplotlib|\bfrom (matplotlib|rich|typer|jinja2|pyarrow)\b")


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A copy of our packages whose code is hashed."""
    for package in OURS:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / package, tmp_path / package, ignore=ignored)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(provenance, "find_spec", lambda name: PathFinder.find_spec(name, [str(tmp_path)]))
    provenance.digest.cache_clear()
    yield tmp_path
    provenance.digest.cache_clear()


def digests() -> dict[str, str]:
    provenance.digest.cache_clear()
    return {package: provenance.digest(package) for package in OURS}


def playing(checkout: Path) -> set[str]:
    return {path.relative_to(checkout).as_posix() for path in provenance.playing_modules()}


class Retold(ast.NodeTransformer):
    """Gives everything that has a docstring another one."""

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
        if isinstance(node, documented) and ast.get_docstring(node) is not None:
            node.body[0] = ast.Expr(ast.Constant("It is told otherwise."))
        return node


def with_another_number(path: Path) -> str:
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        return re.sub(r"\d", lambda digit: str(9 - int(digit[0])), text, count=1)
    tree = ast.parse(text)
    numbers = [
        node for node in ast.walk(tree) if isinstance(node, ast.Constant) and type(node.value) in (int, float)
    ]
    numbers[0].value += 1
    return ast.unparse(tree)


@pytest.mark.long
def test_other_docstrings_no_comments_and_another_layout_of_all_modules_leave_the_hashes(checkout):
    before = digests()
    for path in checkout.rglob("*.py"):
        tree = ast.fix_missing_locations(Retold().visit(ast.parse(path.read_text(encoding="utf-8"))))
        path.write_text("\n\n" + ast.unparse(tree).replace("\n", "\n\n") + "\n# the end", encoding="utf-8")
    assert digests() == before


@pytest.mark.long
def test_an_edit_of_whatever_shows_numbers_leaves_the_hashes(checkout):
    before = digests()
    showing = [path for path in checkout.rglob("*.py") if SHOWING.search(path.read_text(encoding="utf-8"))]
    assert len(showing) > 15
    for path in showing:
        path.write_text(path.read_text(encoding="utf-8") + "\nEDITED = 1\n", encoding="utf-8")
    for folder in ("bandit_envs/rendering", "gpbandits/evaluation", "gpbandits/report"):
        (checkout / folder / "new_plots.py").write_text("EDITED = 1\n")
    assert digests() == before


@pytest.mark.long
@pytest.mark.parametrize(
    "file",
    [
        "agents/algorithms/classic.py",
        "agents/widths/base.py",
        "bandit_envs/laws/noise.py",
        "bandit_envs/data/tables/svm_diabetes_uniform_11x251.csv",
        "gpbandits/evaluation/loop.py",
        "gpbandits/evaluation/trace.py",
        "gpbandits/evaluation/record.py",
    ],
)
def test_another_number_in_an_algorithm_a_law_a_table_or_the_loop_changes_the_hash(checkout, file):
    package, path = file.split("/")[0], checkout / file
    before = provenance.digest(package)
    path.write_text(with_another_number(path), encoding="utf-8")
    provenance.digest.cache_clear()
    assert provenance.digest(package) != before


def test_code_is_parsed_once_until_its_bytes_change_or_the_cache_is_damaged(checkout, monkeypatch):
    parsed, meaning = [], provenance.meaning

    def counted(name: str, content: bytes) -> bytes:
        parsed.append(name)
        return meaning(name, content)

    def again() -> str:
        parsed.clear()
        provenance.digest.cache_clear()
        return provenance.digest("gpbandits")

    monkeypatch.setattr(provenance, "meaning", counted)
    kept, loop = checkout / "cache/gpbandits/code/gpbandits", checkout / "gpbandits/evaluation/loop.py"
    known = again()
    assert "loop.py" in parsed
    assert (again(), parsed) == (known, [])
    loop.write_text(loop.read_text(encoding="utf-8") + "\nEDITED = 1\n", encoding="utf-8")
    edited = again()
    assert edited != known
    assert "loop.py" in parsed
    kept.write_bytes(b"\xff")
    assert (again(), "loop.py" in parsed) == (edited, True)
    kept.unlink()
    kept.mkdir()  # as unusable as a folder that cannot be written to
    assert (again(), "loop.py" in parsed) == (edited, True)


def test_all_of_the_agents_and_of_the_problems_is_hashed_but_for_pictures(checkout):
    for package in ("agents", "bandit_envs"):
        pictures = checkout / package / provenance.PICTURES[package]
        code = {path for path in (checkout / package).rglob("*.py") if pictures not in path.parents}
        assert code <= provenance.files_of(package)


@pytest.mark.long
def test_what_plays_is_the_loop_and_whatever_it_imports_and_nothing_that_shows(checkout):
    files = playing(checkout)
    assert {"gpbandits/evaluation/loop.py", "gpbandits/evaluation/trace.py"} <= files
    assert [file for file in files if SHOWING.search((checkout / file).read_text(encoding="utf-8"))] == []
    trace = checkout / "gpbandits" / "evaluation" / "trace.py"
    trace.write_text(trace.read_text() + "\ndef late():\n    from gpbandits.evaluation import new\n")
    (checkout / "gpbandits" / "evaluation" / "new.py").write_text("import gpbandits.theory.regret\n")
    assert playing(checkout) - files >= {"gpbandits/evaluation/new.py", "gpbandits/theory/regret.py"}
