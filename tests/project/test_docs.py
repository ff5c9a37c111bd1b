"""The documentation site builds without a warning, and what its pages show runs."""

import ast
import importlib
import re
import tomllib
from html import unescape
from pathlib import Path

import pytest
from pages import blocks, read

from bandit_envs.laws.delays import LAWS, Delay
from gpbandits import evaluate
from gpbandits.report.stored import tables_in

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


def test_the_front_page_of_the_site_has_the_comparison_of_the_readme():
    assert blocks(DOCS / "index.md", "python")[0] == blocks(ROOT / "README.md", "python")[0]


def test_an_installation_begins_with_an_index():
    for page in (ROOT / "README.md", DOCS / "quickstart.md"):
        first = re.findall(r"pip install (.*)", page.read_text(encoding="utf-8"))[0]
        assert "gpbandits[eval]" in first, page


FILMED = [ROOT / "README.md", *DOCS.rglob("*.md")]


def films(page: Path) -> list[ast.Call]:
    nodes = (node for block in blocks(page, "python") for node in ast.walk(ast.parse(block)))
    return [node for node in nodes if isinstance(node, ast.Call) and ast.unparse(node.func) == "watch"]


@pytest.mark.parametrize("page", [p for p in FILMED if films(p)], ids=lambda page: page.stem)
def test_a_film_of_a_page_does_not_begin_at_the_optimum(page):
    for film in films(page):
        given = {each.arg: ast.literal_eval(each.value) for each in film.keywords}
        seed, keywords = given.get("seed", 0), given["env_kwargs"]
        # Before a play all arms are alike for all agents that are shown, and one generator chooses.
        result = evaluate(
            ast.literal_eval(film.args[0]), ["gp-ucb"], trials=1, seed=seed, env_kwargs=keywords
        )
        assert result.regret["gp-ucb"][0, 0] > 0.5, seed  # functions have a std of 1


@pytest.mark.long
def test_an_interval_in_a_table_stays_in_one_line_and_may_go_below_its_mean(site):
    html = (site / "changes.html").read_text(encoding="utf-8")
    cells = re.findall(r"<td[^>]*><p>([\d.]+ .*?\[.*?)</p>", html)
    assert len(cells) > 20
    for cell in cells:
        assert re.search(r' <span class="one-line">\[[^]]+\][^<]*</span>', cell), cell


@pytest.mark.long
@pytest.mark.parametrize("page", ["leaderboard", "reproductions", "field"])
def test_the_site_shows_the_cells_of_the_files_that_a_page_includes(page, site):
    html = (site / f"{page}.html").read_text(encoding="utf-8")
    found = re.findall(r"<td.*?>(.*?)</td>", html, re.DOTALL)
    cells = {unescape(re.sub(r"<[^>]+>", "", cell)).strip() for cell in found}
    tables = tables_in(read(f"{page}.md"))
    expected = {cell for _, *rows in tables for row in rows for cell in row if not re.search(r"[`*(]", cell)}
    assert len(expected) > 50
    assert expected <= cells


EVERY = [ROOT / "README.md", *(page for page in DOCS.rglob("*.md") if "generated" not in page.parts)]


def test_the_pages_have_55_000_words_at_most():
    pages = [page for page in EVERY if page.parent != ROOT]
    assert len(pages) == len(EVERY) - 1
    assert sum(len(page.read_text(encoding="utf-8").split()) for page in pages) <= 55_000


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


PROMISES = re.findall(r"^\| (.+?) \| ((?:`tests/[\w/.]+` ?)+) \|$", read("reliability.md"), re.MULTILINE)


def has_tests(file: str) -> bool:
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    return any(isinstance(each, ast.FunctionDef) and each.name.startswith("test_") for each in tree.body)


@pytest.mark.parametrize(("promise", "files"), PROMISES)
def test_a_promise_is_held_by_the_tests_that_the_page_names(promise, files):
    assert all(map(has_tests, re.findall(r"`(.+?)`", files))), promise
