"""Name what a person has to fill in before something is published; the exit code is 1 where anything is left.

    python tools/placeholders.py          # everywhere
    python tools/placeholders.py pypi     # what the release workflow refuses

A placeholder is one of three words: an address at example.invalid, ADDRESS, or FILL-IN.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
MARKS = re.compile(r"example\.invalid|\bADDRESS\b|\bFILL-IN\b")
# What is published where; patterns of paths.
TARGETS = {
    "pypi": ("pyproject.toml", "README.md", "CITATION.cff"),
    "conda": ("tools/recipe/recipe.yaml",),
    "data": ("docs/croissant.json",),
    "joss": ("paper/paper.md", "paper/paper.bib"),
    "optunahub": ("tools/integrations/optunahub/**/*.*",),
}


class Placeholder(NamedTuple):
    """Hold where something is to be filled in."""

    target: str
    path: str
    line: int
    text: str


def placeholders(targets: tuple[str, ...] = tuple(TARGETS), root: Path = ROOT) -> Iterator[Placeholder]:
    """Yield every placeholder of what is published there."""
    for target in targets:
        for path in sorted(path for each in TARGETS[target] for path in root.glob(each)):
            if path.is_file() and "__pycache__" not in path.parts:
                for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                    if MARKS.search(line):
                        yield Placeholder(target, path.relative_to(root).as_posix(), number, line.strip())


def main(targets: list[str]) -> int:
    """Print them and return the exit code."""
    if unknown := sorted(set(targets) - set(TARGETS)):
        sys.exit(f"unknown target {unknown[0]!r}; choose of {', '.join(TARGETS)}")
    found = list(placeholders(tuple(targets or TARGETS)))
    for each in found:
        print(f"{each.target}: {each.path}:{each.line}: {each.text}")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
