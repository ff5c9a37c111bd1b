"""A site with one folder a release, of which older ones stay: `python docs/versions.py SITE BUILT VERSION`.

SITE/versions.json lists the releases, the newest first, and SITE/index.html leads to the newest. The pages
read the list (static/versions.js) and offer the same page of another release.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

from packaging.version import InvalidVersion, Version

LEAD = '<!DOCTYPE html><meta http-equiv="refresh" content="0; url={0}/"><a href="{0}/">{0}</a>\n'


def add_version(site: Path, built: Path, version: str) -> list[str]:
    """Copy a built site into a folder of its release and return the releases, the newest first.

    A release of the same version is replaced. A development version is kept and listed by its number, and
    the site leads to it only where there is no release.
    """
    place = site / str(Version(version))
    if not (built / "index.html").is_file():
        raise FileNotFoundError(f"BUILT must be a folder that sphinx-build wrote, got {built}")
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(built, place, ignore=shutil.ignore_patterns(".doctrees", ".buildinfo*"))
    (site / ".nojekyll").touch()  # GitHub's pages would leave out all folders that begin with _
    known = sorted(filter(None, map(_version, site.glob("*/index.html"))), reverse=True)
    listed = list(map(str, sorted(known, key=lambda each: each.is_prerelease)))
    (site / "versions.json").write_text(json.dumps(listed) + "\n", encoding="utf-8")
    (site / "index.html").write_text(LEAD.format(listed[0]), encoding="utf-8")
    return listed


def _version(index: Path) -> Version | None:
    """Return the release whose first page this is; None for another folder, such as `lite`."""
    try:
        return Version(index.parent.name)
    except InvalidVersion:
        return None


if __name__ == "__main__":
    print(*add_version(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]))
