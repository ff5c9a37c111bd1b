"""Pages of the built site fit a phone and a desktop in Chromium, and all their pictures load."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from pages import browser, needs_browser

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
WIDTHS = "return [document.documentElement.scrollWidth, document.documentElement.clientWidth]"
# What reaches beyond the window without a parent that scrolls; it is named where a page is too wide.
TOO_WIDE = """
const right = document.documentElement.clientWidth;
return [...document.querySelectorAll('article *')]
    .filter(each => each.getBoundingClientRect().right > right + 1)
    .slice(0, 3).map(each => each.outerHTML.slice(0, 200));
"""


def load(opened: Any, page: Path) -> None:
    """Open a page and wait for its pictures."""
    opened.get(page.as_uri())
    opened.execute_script(LOAD)
    for _ in range(100):
        if not opened.execute_script(PENDING):
            return
        time.sleep(0.1)
    raise AssertionError(f"{page}: pictures do not end loading")


@pytest.mark.long
@needs_browser
@pytest.mark.parametrize("screen", SCREENS)
def test_no_page_is_wider_than_its_window_and_every_picture_loads(screen, site, tmp_path):
    width, height = SCREENS[screen]
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": screen == "phone"}
    with browser(tmp_path / "profile") as opened:
        opened.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        for name in PAGES:
            load(opened, site / f"{name}.html")
            needed, given = opened.execute_script(WIDTHS)
            assert given <= width, name
            assert needed <= given, (name, opened.execute_script(TOO_WIDE))
            assert opened.execute_script(BROKEN) == [], name
