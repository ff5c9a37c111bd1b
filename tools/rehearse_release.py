"""Rehearse a release on this machine: build everything that is published and check it as its registry would.

    python tools/rehearse_release.py                          # all checks; a quarter of an hour
    python tools/rehearse_release.py distributions install    # some of them
    python tools/rehearse_release.py install --borrow         # with the dependencies that are installed here
    python tools/rehearse_release.py install --extras eval,data --study examples/studies/demo.toml

A check has passed, failed, been skipped with its reason, or is refused: nothing is broken, and a person has
to act before a release (see docs/publishing.md). All is built in a temporary folder, or in `--keep FOLDER`.
Tools that the extra `dev` has not (cffconvert, mlcroissant) are those of the environment `--tools`; the extra
`lite` has JupyterLite.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from installing import call, install_and_play
from placeholders import placeholders
from site_links import broken
from sizes import main as sizes

ROOT = Path(__file__).parents[1]


class Skipped(Exception):
    """The check cannot run here."""


class Refused(Exception):
    """A person has to act before the release."""


@dataclass
class Rehearsal:
    """What the checks share."""

    folder: Path
    tools: Path
    borrow: bool
    extras: str
    study: Path

    def distributions(self) -> None:
        """Build sdist and wheel; twine renders the README as PyPI does."""
        shutil.rmtree(self.folder / "dist", ignore_errors=True)
        build = ("-m", "build", "--no-isolation", "--outdir", self.folder / "dist", ROOT)
        call(sys.executable, *build, cwd=self.folder)
        call(sys.executable, "-m", "twine", "check", "--strict", *self.built(), cwd=self.folder)

    def built(self) -> list[Path]:
        """Return the sdist and the wheel, built if they are not."""
        if not list(self.folder.glob("dist/*")):
            self.distributions()
        return sorted((self.folder / "dist").iterdir())

    def sizes(self) -> None:
        """Compare sizes with their limits."""
        self.built()
        if sizes(self.folder / "dist"):
            raise Refused("a file is too large")

    def placeholders(self) -> None:
        """List what a person has to fill in."""
        if found := list(placeholders()):
            print(*(f"{each.target}: {each.path}:{each.line}: {each.text}" for each in found), sep="\n")
            raise Refused(f"{len(found)} places to fill in")

    def install(self) -> None:
        """Install the wheel by its name from a local index, and play a study."""
        install_and_play(self.built(), self.folder, self.extras, self.borrow, self.study)

    def citation(self) -> None:
        """Validate CITATION.cff."""
        call(self.tool("cffconvert"), "--validate", "--infile", ROOT / "CITATION.cff", cwd=self.folder)

    def data(self) -> None:
        """Build the archive of our data and validate the Croissant file, which names its digest."""
        call(sys.executable, ROOT / "tools" / "data_archive.py", self.folder / "data", cwd=self.folder)
        call(sys.executable, "-m", "pytest", "-q", "tests/project/test_card.py", cwd=ROOT)
        card = ROOT / "docs" / "croissant.json"
        call(self.tool("mlcroissant"), "validate", "--jsonld", card, cwd=self.folder)

    def conda(self) -> None:
        """Build the recipe from the sdist, install it and run its tests, on a channel of what is here."""
        call(sys.executable, "-m", "pytest", "-q", "-rs", "tests/project/test_recipe.py", cwd=ROOT)

    def lite(self) -> None:
        """Build the tutorials that run in a browser, where the site's buttons lead."""
        tool = self.tool("jupyter-lite")
        (wheel,) = (each for each in self.built() if each.suffix == ".whl")
        notebooks, place = self.folder / "notebooks", self.folder / "docs" / "lite"
        call(sys.executable, ROOT / "docs" / "notebooks.py", notebooks, "--browser", cwd=self.folder)
        source = ("--lite-dir", self.folder, "--contents", notebooks, "--piplite-wheels", wheel)
        call(tool, "build", *source, "--output-dir", place, cwd=self.folder)

    def site(self) -> None:
        """Build the pages, with buttons where there is a place to lead, and follow their links."""
        place = self.folder / "docs"
        tags = ("-t", "lite") if (place / "lite" / "index.html").exists() else ()
        call(sys.executable, "-m", "sphinx", "-W", "-q", *tags, ROOT / "docs", place, cwd=self.folder)
        if found := broken(place):
            raise AssertionError("\n".join(["links that lead nowhere:", *found]))

    def tool(self, name: str) -> Path:
        """Return a command of the tools' environment, of this one, or of the path."""
        places = [self.tools / "bin" / name, Path(sys.executable).with_name(name)]
        found = next((each for each in places if each.exists()), shutil.which(name))
        if found is None:
            raise Skipped(f"{name} is not installed")
        return Path(found)


CHECKS: dict[str, Callable[[Rehearsal], None]] = {
    name: getattr(Rehearsal, name)
    for name in (
        *("distributions", "sizes", "placeholders", "citation", "data"),
        *("install", "lite", "site", "conda"),
    )
}


def outcome(check: Callable[[Rehearsal], None], rehearsal: Rehearsal) -> str:
    """Return how a check ended, with its reason."""
    try:
        check(rehearsal)
    except (Skipped, Refused) as reason:
        return f"{type(reason).__name__.lower()}: {reason}"
    except subprocess.CalledProcessError as error:
        return f"failed: {error.cmd[0]} ended with code {error.returncode}"
    except Exception as error:
        traceback.print_exc()
        return f"failed: {error}"
    return "passed"


def main() -> int:
    """Rehearse and return the exit code: 1 where a check failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("checks", nargs="*", metavar="check", help=f"of {', '.join(CHECKS)}; all by default")
    parser.add_argument("--extras", default="eval", help="extras to install, with commas between")
    parser.add_argument("--borrow", action="store_true", help="use the dependencies that are installed here")
    parser.add_argument("--study", type=Path, default=ROOT / "examples" / "studies" / "quick.toml")
    parser.add_argument("--tools", type=Path, default=ROOT / "build" / "release-tools")
    parser.add_argument("--keep", type=Path, help="a folder that keeps what is built")
    chosen = parser.parse_args()
    if unknown := sorted(set(chosen.checks) - set(CHECKS)):
        parser.error(f"unknown check {unknown[0]!r}; choose of {', '.join(CHECKS)}")
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made) if chosen.keep is None else chosen.keep.resolve()
        folder.mkdir(parents=True, exist_ok=True)
        rehearsal = Rehearsal(folder, chosen.tools, chosen.borrow, chosen.extras, chosen.study.resolve())
        ended = {}
        for name in chosen.checks or CHECKS:
            start = time.monotonic()
            ended[name] = f"{outcome(CHECKS[name], rehearsal)} ({time.monotonic() - start:.0f} s)"
    print(*(f"{name:13} {said}" for name, said in ended.items()), sep="\n")
    return int(any(said.startswith("failed") for said in ended.values()))


if __name__ == "__main__":
    os.environ.pop("PYTHONPATH", None)
    sys.exit(main())
