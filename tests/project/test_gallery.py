"""The gallery shows every example, with what it drew and printed where it was run."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GALLERY = runpy.run_path(str(ROOT / "docs" / "gallery.py"), run_name="gallery")
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The pages, of which nothing was run."""
    docs = tmp_path_factory.mktemp("docs")
    GALLERY["build"](docs, "")
    return docs / "generated" / "gallery"


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.stem)
def test_every_example_has_a_page_with_its_docstring_and_its_code(example, folder):
    page = (folder / f"{example.stem}.md").read_text(encoding="utf-8")
    _, included = page.rsplit("```{literalinclude} ", 1)
    assert (folder / included.splitlines()[0]).resolve() == example
    assert GALLERY["said"](example) in page
    assert f"]({example.stem}.md)" in (folder / "index.md").read_text(encoding="utf-8")


def small(folder: Path, code: str) -> Path:
    example = folder / "small.py"
    example.write_text(f'"""It draws."""\n{code}\n', encoding="utf-8")
    return example


def test_what_was_run_is_shown_until_its_code_changes(tmp_path):
    example = small(tmp_path, "print('said'); open('drawn.png', 'wb').close()")
    ran = tmp_path / "pages" / "small"
    GALLERY["run"](example, ran)
    assert (ran / "printed.txt").read_text() == "said\n"
    assert "](small/drawn.png)" in GALLERY["page"](example, ran)
    small(tmp_path, "print('other')")
    assert "drawn.png" not in GALLERY["page"](example, ran)


def test_an_example_that_fails_stops_the_build_with_its_name(tmp_path):
    with pytest.raises(RuntimeError, match=r"the example small.py failed:\n(.|\n)*ZeroDivisionError"):
        GALLERY["run"](small(tmp_path, "1 / 0"), tmp_path / "small")


@pytest.mark.long
def test_the_quickstart_is_run_and_drawn(tmp_path):
    GALLERY["run"](ROOT / "examples" / "quickstart.py", tmp_path / "quickstart")
    (picture,) = (tmp_path / "quickstart").glob("*.png")
    assert picture.stat().st_size > 10_000
