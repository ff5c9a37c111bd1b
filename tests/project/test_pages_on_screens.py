"""Pages of the built site fit a phone and a desktop in Chromium, and all their pictures load."""

from pathlib import Path
from typing import Any

import pytest
from pages import browser, needs_browser
from PIL import Image
from slow_runs import until

from bandit_envs.rendering.panels import FILM_FONT
from bandit_envs.rendering.picture import PRINT_FONT

SCREENS = {"phone": (390, 844), "desktop": (1280, 800)}
PAGES = (
    *(
        "index",
        "tutorials/index",
        "tutorials/researcher",
        "guides/index",
        "environments",
        "agents",
        "leaderboard",
    ),
    *("generated/agents-by-name", "generated/commands", "generated/GPBandit-Delayed-v0"),
)
LOAD = "document.querySelectorAll('img').forEach(each => { each.loading = 'eager' })"
PENDING = "return [...document.images].filter(each => !each.complete).length"
BROKEN = "return [...document.images].filter(each => !each.naturalWidth).map(each => each.src)"
# Thumbnails lead to figures.
SHOWN = """
return [...document.querySelectorAll('article img')]
    .filter(each => !each.closest('.sphx-glr-thumbcontainer'))
    .map(each => [decodeURI(new URL(each.src).pathname), each.getBoundingClientRect().width]);
"""
WIDTHS = "return [document.documentElement.scrollWidth, document.documentElement.clientWidth]"
# Tables, blocks of code and formulas that are cut, and would scroll, with their needed and given widths.
CUT = """
return [...document.querySelectorAll('article .table-wrapper, article pre, article div.math')]
    .filter(each => each.scrollWidth > each.clientWidth + 1)
    .map(each => [each.scrollWidth, each.clientWidth, each.innerText.slice(0, 80)]);
"""
# What reaches beyond the window without a parent that scrolls; it is named where a page is too wide.
TOO_WIDE = """
const right = document.documentElement.clientWidth;
return [...document.querySelectorAll('article *')]
    .filter(each => each.getBoundingClientRect().right > right + 1)
    .slice(0, 3).map(each => each.outerHTML.slice(0, 200));
"""


def load(opened: Any, page: Path) -> None:
    opened.get(page.as_uri())
    opened.execute_script(LOAD)
    until(lambda: not opened.execute_script(PENDING), lambda: f"{page}: pictures do not end loading")


@pytest.mark.long
@needs_browser
@pytest.mark.parametrize("screen", SCREENS)
def test_no_page_is_wider_than_its_window_and_every_picture_loads(screen, site, tmp_path):
    with browser(tmp_path / "profile", *SCREENS[screen], mobile=screen == "phone") as opened:
        for name in PAGES:
            load(opened, site / f"{name}.html")
            needed, given = opened.execute_script(WIDTHS)
            assert given <= SCREENS[screen][0], name
            assert needed <= given, (name, opened.execute_script(TOO_WIDE))
            assert opened.execute_script(BROKEN) == [], name


@pytest.mark.long
@needs_browser
def test_no_table_no_code_and_no_formula_of_any_page_is_cut_on_a_desktop(site, tmp_path):
    with browser(tmp_path / "profile", *SCREENS["desktop"]) as opened:
        pages = [page for page in sorted(site.rglob("*.html")) if "_static" not in page.parts]
        assert len(pages) > 100
        cut = {}
        for page in pages:
            opened.get(page.as_uri())
            if found := opened.execute_script(CUT):
                cut[str(page.relative_to(site))] = found
        assert cut == {}


def label(picture: Path, shown: float) -> float | None:
    """The pixels of a figure's smallest letters at this width; None if it states no resolution."""
    with Image.open(picture) as opened:
        per_inch = 100 if picture.suffix == ".gif" else opened.info.get("dpi", (None,))[0]
        points = FILM_FONT if picture.suffix == ".gif" else PRINT_FONT
        return per_inch and points / 72 * per_inch * shown / opened.width


@pytest.mark.long
@needs_browser
def test_labels_of_figures_have_eight_pixels_on_a_desktop(site, tmp_path):
    with browser(tmp_path / "profile", *SCREENS["desktop"]) as opened:
        pixels = {}
        for page in sorted(site.rglob("*.html")):
            if "_static" not in page.parts and "<img" in page.read_text(encoding="utf-8"):
                load(opened, page)
                for path, shown in opened.execute_script(SHOWN):
                    pixels[f"{page.relative_to(site)} {Path(path).name}"] = label(Path(path), shown)
        measured = {name: value for name, value in pixels.items() if value is not None}
        assert len(measured) > 50
        assert {name: value for name, value in measured.items() if round(value) < 8} == {}
