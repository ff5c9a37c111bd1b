"""Write the conda recipe of a release, with the version and checksum of its sdist.

    python tools/conda_recipe.py dist/gpbandits-0.1.0.tar.gz build/recipe            # for conda-forge
    python tools/conda_recipe.py dist/gpbandits-0.1.0.tar.gz build/recipe --local    # builds from this file

The source of a release is its file on PyPI; a recipe that is `--local` takes the file on this machine.
"""

from __future__ import annotations

import argparse
import hashlib
import re
from pathlib import Path

RECIPE = Path(__file__).parent / "recipe" / "recipe.yaml"


def release(sdist: Path, local: bool = False) -> str:
    """Return the recipe of an sdist, whose name says the version."""
    named = re.fullmatch(r"gpbandits-(.+)\.tar\.gz", sdist.name)
    if named is None:
        raise ValueError(f"SDIST must be named gpbandits-VERSION.tar.gz, got {sdist.name}")
    text = RECIPE.read_text(encoding="utf-8")
    text = _replaced("  version: ", f'"{named[1]}"', text)
    text = _replaced("  sha256: ", hashlib.sha256(sdist.read_bytes()).hexdigest(), text)
    return _replaced("  url: ", sdist.resolve().as_uri(), text) if local else text


def _replaced(key: str, value: str, text: str) -> str:
    """Return the text with another value of the first such key."""
    made, count = re.subn(rf"^({key}).*$", rf"\g<1>{value}", text, count=1, flags=re.MULTILINE)
    if not count:
        raise ValueError(f"{RECIPE} must have a line {key.strip()!r}")
    return made


def main() -> None:
    """Write it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sdist", type=Path)
    parser.add_argument("folder", type=Path, help="where recipe.yaml is written")
    parser.add_argument("--local", action="store_true", help="build from this file, not from PyPI")
    chosen = parser.parse_args()
    chosen.folder.mkdir(parents=True, exist_ok=True)
    (chosen.folder / "recipe.yaml").write_text(release(chosen.sdist, chosen.local), encoding="utf-8")


if __name__ == "__main__":
    main()
