"""Refuse distributions that are too large: `python tools/sizes.py dist`."""

from __future__ import annotations

import sys
from pathlib import Path

LIMITS = {".whl": 900, ".tar.gz": 8000}  # kilobytes


def main(folder: Path) -> int:
    """Print the size of each file and return the exit code: 1 where one is too large or missing."""
    sizes = {
        file: (limit, file.stat().st_size) for end, limit in LIMITS.items() for file in folder.glob(f"*{end}")
    }
    for file, (limit, size) in sizes.items():
        print(f"{file.name}: {size / 1000:.0f} kB, at most {limit}")
    return int(len(sizes) < len(LIMITS) or any(size > 1000 * limit for limit, size in sizes.values()))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
