"""Check every link of a built site that leads to the site itself: `python tools/site_links.py build/docs`."""

from __future__ import annotations

import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

NOT_BUILT = ("versions.json",)  # written beside the releases by docs/versions.py


class Page(HTMLParser):
    """The links of a page and the names that others may point to."""

    def __init__(self, path: Path):
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag names and where it leads."""
        for name, value in attrs:
            if name in ("id", "name"):
                self.anchors.add(value or "")
            elif name in ("href", "src") and value and tag != "base":
                self.links.append(value)


def broken(site: Path) -> list[str]:
    """Return "page: link" of every link that leads to no file or no anchor of the site."""
    read = cache(Page)
    found = []
    pages = [path for path in site.rglob("*.html") if not path.is_relative_to(site / "lite")]  # JupyterLite's
    for path in sorted(pages):
        for link in read(path).links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or parts.path.endswith(NOT_BUILT):
                continue
            target = path if not parts.path else (path.parent / unquote(parts.path))
            target = target / "index.html" if target.is_dir() else target
            anchor = unquote(parts.fragment)
            missing = (
                anchor and target.suffix == ".html" and target.exists() and anchor not in read(target).anchors
            )
            if not target.exists() or missing:
                found.append(f"{path.relative_to(site)}: {link}")
    return found


def main(site: Path) -> int:
    """Print broken links and return the exit code."""
    found = broken(site)
    print(*found, sep="\n")
    return int(bool(found) or not any(site.rglob("*.html")))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
