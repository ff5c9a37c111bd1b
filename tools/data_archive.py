"""Build the archive of the suite's own data: the digits' runs, our other tables, fitted priors and tasks.

    python tools/data_archive.py build/data

It is the same file on every machine: names sorted, times fixed, nothing compressed.
"""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
NAME = "gpbandits-real-v2.zip"
TABLES = ROOT / "bandit_envs" / "data" / "tables"
PROBLEMS = ROOT / "bandit_envs" / "problems"
BEGIN = (1980, 1, 1, 0, 0, 0)  # the earliest time that the format has


def members() -> dict[str, Path]:
    """Return the files by their names in the archive."""
    files = [*TABLES.glob("*.csv"), PROBLEMS / "real_priors.toml", PROBLEMS / "tasks.toml", ROOT / "LICENSE"]
    return {path.name: path for path in sorted(files, key=lambda path: path.name)}


def build(folder: Path) -> Path:
    """Write the archive into a folder and return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(folder / NAME, "w", zipfile.ZIP_STORED) as archive:
        for name, path in members().items():
            entry = zipfile.ZipInfo(name, BEGIN)
            entry.create_system, entry.external_attr = 3, 0o644 << 16  # of Unix, on every system
            archive.writestr(entry, path.read_bytes())
    return folder / NAME


if __name__ == "__main__":
    print(build(Path(sys.argv[1])))
