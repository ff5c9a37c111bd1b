"""The documentation site builds without a warning, and what its pages show runs."""

from __future__ import annotations

import ast
import importlib
import re
import tomllib
from pathlib import Path

import pytest
from pages import blocks

from agents.registry import names as agent_names
from bandit_envs.environment.registration import IDS
from bandit_envs.laws.delays import LAWS, Delay

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
OURS = ("agents", "bandit_envs", "gpbandits")
PAGES = sorted(DOCS.glob("*.md"))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p, "python")], ids=lambda page: page.stem)
def test_the_python_blocks_of_a_page_run_in_order(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(LAWS, "weekend", Delay)  # which a page registers, and other tests must not meet
    names: dict[str, object] = {"__name__": "__main__"}
    for block in blocks(page, "python"):
        exec(compile(block, page.name, "exec", dont_inherit=True), names)  # as a reader runs it


@pytest.mark.parametrize("package", OURS)
def test_the_page_of_rooms_lists_the_folders_of_each_package(package):
    page = (DOCS / "architecture.md").read_text(encoding="utf-8")
    (table,) = re.findall(rf"^## `{package}`.*?(?=^## )", page, re.DOTALL | re.MULTILINE)
    listed = [
        name for row in re.findall(r"^\|(.*?)\|", table, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)
    ]
    assert sorted(listed) == sorted(each.parent.name for each in (ROOT / package).glob("*/__init__.py"))


def test_toml_blocks_are_toml():
    for page in PAGES:
        for block in blocks(page, "toml"):
            assert tomllib.loads(block)


def test_every_committed_figure_is_shown_on_a_page():
    pages = [ROOT / "README.md", *DOCS.rglob("*.md")]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages if "generated" not in page.parts)
    assert [figure.name for figure in (DOCS / "figures").rglob("*.*") if figure.name not in text] == []


@pytest.mark.long
def test_the_site_documents_every_id_and_agent(site):
    for page, names in {"environments": list(IDS), "agents-by-name": agent_names()}.items():
        html = (site / "generated" / f"{page}.html").read_text(encoding="utf-8")
        assert [name for name in names if f">{name}<" not in html] == []


def test_the_citation_has_the_version_of_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for file in (ROOT / "CITATION.cff", DOCS / "citing.md"):
        assert project["version"] in file.read_text(encoding="utf-8")


EVERY = [ROOT / "README.md", *(page for page in DOCS.rglob("*.md") if "generated" not in page.parts)]


@pytest.mark.parametrize("page", [p for p in EVERY if blocks(p, "python")], ids=lambda page: page.stem)
def test_the_code_of_a_page_uses_public_names_only(page):
    for tree in map(ast.parse, blocks(page, "python")):
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in OURS:
                public = importlib.import_module(node.module or "").__all__
                assert [each.name for each in node.names if each.name not in public] == [], node.module
            for said in (getattr(node, "attr", ""), getattr(node, "name", "") or ""):
                assert not re.fullmatch(r"_[^_]\w*", said), said


@pytest.mark.parametrize("page", EVERY, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_says_in_its_first_lines_whom_it_is_for(page):
    first = page.read_text(encoding="utf-8").split("\n\n", 3)[1:3]
    assert re.search(
        r"\b[Ff]or (every|readers|research|people|users|lecturers|engineers|main|authors)", " ".join(first)
    )
