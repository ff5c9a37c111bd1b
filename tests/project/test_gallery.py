"""The gallery shows every example, run from nothing, with what it draws and prints."""

import ast
import re
import sys
from html import unescape
from pathlib import Path

import pytest

pytest.importorskip("sphinx_gallery", reason="needs the extra `docs`")
ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs"))
from gallery import needed_files, runnable, saved_pictures  # noqa: E402

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
IDS = [example.stem for example in EXAMPLES]


def title(example: Path) -> str:
    """The first line of its docstring, which the second underlines."""
    said = ast.get_docstring(ast.parse(example.read_text(encoding="utf-8"))) or ""
    first, line, *_ = said.splitlines()
    assert line == "=" * len(first), f"{example.name} has no title"
    return first


@pytest.mark.parametrize("example", EXAMPLES, ids=IDS)
def test_every_example_has_a_title(example):
    assert 5 < len(title(example)) < 45


def test_examples_whose_measurements_are_not_there_are_shown_and_not_run(tmp_path, monkeypatch):
    monkeypatch.delenv("GPBANDITS_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    run = {example for example in EXAMPLES if re.search(runnable(), str(example))}
    assert run == {example for example in EXAMPLES if not needed_files(example)} != set(EXAMPLES)
    monkeypatch.setattr("gallery.find", lambda file: tmp_path)
    assert all(re.search(runnable(), str(example)) for example in EXAMPLES)


def test_pictures_that_a_block_saves_are_shown_once(tmp_path):
    (tmp_path / "images").mkdir()
    paths = (str(tmp_path / "images" / f"{number}.png") for number in range(9))
    block = {"src_file": str(tmp_path / "example.py"), "image_path_iterator": paths}
    for name, count in (("first", 1), ("second", 1), (None, 0)):
        if name:
            (tmp_path / f"{name}.png").write_text(name)
        shown = saved_pictures(None, block, {"src_dir": str(tmp_path)})
        assert shown.count("image-sg::") == count
    kept = [(tmp_path / "images" / f"{number}.png").read_text() for number in range(2)]
    assert kept == ["first", "second"]


@pytest.mark.long
@pytest.mark.parametrize("example", EXAMPLES, ids=IDS)
def test_every_example_has_a_page_with_its_code_as_a_script_and_as_a_notebook(example, site):
    page = (site / "generated" / "gallery" / f"{example.stem}.html").read_text(encoding="utf-8")
    assert title(example) in unescape(page).replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    for end in ("py", "ipynb"):
        assert f"/{example.stem}.{end}" in page
    assert f"{example.stem}.html" in (site / "generated" / "gallery" / "index.html").read_text("utf-8")
