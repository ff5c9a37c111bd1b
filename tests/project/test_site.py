"""The site leads to its guides: cards, a search, buttons that copy, short names, and no missing file."""

import re
import sys
import urllib.request
from pathlib import Path
from typing import Annotated

import pytest
from pages import DOCS, browser, needs_browser, served
from PIL import Image
from slow_runs import until

from bandit_envs.basics.options import positive

SEARCHED = ("delay", "constraints", "table")
FOUND = "return [...document.querySelectorAll('#search-results li a')].map(each => each.getAttribute('href'))"
SESSION = ">>> first = 1\n>>> for i in range(2):\n...     print(i)\n0\n1\n"


@pytest.mark.long
@needs_browser
def test_the_search_ranks_guides_before_modules_and_nothing_is_missing(site, tmp_path):
    with served(site) as (address, missing), browser(tmp_path / "profile") as opened:
        for word in SEARCHED:
            opened.get(f"{address}/search.html?q={word}")
            until(lambda: len(opened.execute_script(FOUND)) > 10)
            found = opened.execute_script(FOUND)
            first = [each for each in found if each.startswith(("guides/", "tutorials/"))]
            assert first, (word, found)
            assert not any(each.startswith("generated/gpbandits") for each in found[:5]), (word, found[:5])
        opened.get(f"{address}/index.html")
        icon = opened.execute_script("return document.querySelector('link[rel~=icon]').href")
        with urllib.request.urlopen(icon) as answer:
            assert answer.headers["Content-Type"] == "image/svg+xml"
    assert missing == []


@pytest.mark.long
@needs_browser
def test_every_block_of_code_has_a_button_that_copies_what_a_person_types(site, tmp_path):
    with browser(tmp_path / "profile") as opened:
        opened.get((site / "logs.html").as_uri())
        count = "return document.querySelectorAll('{}').length"
        blocks, buttons = (
            opened.execute_script(count.format(each)) for each in ("article div.highlight", "button.copy")
        )
        assert blocks == buttons > 3
        assert opened.execute_script("return typed(arguments[0])", SESSION) == (
            "first = 1\nfor i in range(2):\n    print(i)"
        )
        assert opened.execute_script("return typed('pip install it\\n')") == "pip install it"


HOW_TO = (DOCS / "guides" / "index.md").read_text(encoding="utf-8").partition("```{toctree}")[2]


def test_every_page_of_the_how_to_is_ranked_before_reference_pages():
    (first,) = re.findall(r"FIRST = /(.*)/;", (DOCS / "static" / "scorer.js").read_text(encoding="utf-8"))
    listed = [page for page in re.findall(r"^\.\./(\S+)$", HOW_TO, re.MULTILINE) if "generated" not in page]
    assert len(listed) > 3
    assert [page for page in listed if not re.search(first, page)] == []


# Where the button of a block ends, and where the first line of its code begins.
PLACES = """
return [...document.querySelectorAll('div.highlight')].map(each => {
    const line = document.createRange();
    line.selectNodeContents(each.querySelector('pre'));
    return [each.querySelector('button').getBoundingClientRect().bottom, line.getClientRects()[0].top];
});
"""


@needs_browser
def test_a_button_that_is_always_seen_covers_no_code(tmp_path):
    page = tmp_path / "page.html"
    css, code = (f"file://{DOCS}/static/{name}" for name in ("pages.css", "copy.js"))
    block = '<div class="highlight"><pre>' + "x" * 200 + "</pre></div>"
    page.write_text(
        f'<link rel="stylesheet" href="{css}"><article>{block}</article><script src="{code}"></script>'
    )
    with browser(tmp_path / "profile") as opened:
        touched = {"features": [{"name": "hover", "value": "none"}]}
        opened.execute_cdp_cmd("Emulation.setEmulatedMedia", touched)
        opened.get(page.as_uri())
        ((button, line),) = opened.execute_script(PLACES)
        assert button <= line


def test_arrays_are_written_by_their_names(monkeypatch):
    pytest.importorskip("sphinx", reason="needs the extra `docs`")
    sys.path.insert(0, str(Path(__file__).parents[2] / "docs"))
    from typenames import NAMES, short

    monkeypatch.setattr("sphinx.util.typing.stringify_annotation", short)  # of the parts of an annotation

    for annotation, name in NAMES.items():
        assert short(annotation) == name
        assert short(dict[str, annotation]) == f"dict[str, {name}]"
    assert short(Annotated[float, positive("it is a rate")] | None) == "float | None"  # a range is no type


@needs_browser
def test_a_tap_on_a_figure_of_a_phone_shows_it_as_wide_as_on_a_desktop_and_the_next_fits_it(tmp_path):
    Image.new("RGB", (1200, 300)).save(tmp_path / "figure.png")
    css, code = (f"file://{DOCS}/static/{name}" for name in ("pages.css", "enlarge.js"))
    page = tmp_path / "page.html"
    page.write_text(
        '<meta name="viewport" content="width=device-width"><style>img { max-width: 100% }</style>'
        f'<link rel="stylesheet" href="{css}"><article><p><img src="figure.png"></p></article>'
        f'<script src="{code}"></script>'
    )
    with browser(tmp_path / "profile", 390, mobile=True) as opened:
        opened.get(page.as_uri())
        widths = []
        for _ in range(3):
            widths.append(opened.execute_script("return document.images[0].getBoundingClientRect().width"))
            assert opened.execute_script("return document.documentElement.scrollWidth") == 390
            opened.execute_script("document.images[0].click()")
        assert widths[0] == widths[2] < 390
        assert widths[1] == 61 * 16
