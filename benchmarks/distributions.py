"""Measure the wheel and the sdist: files and kilobytes of each, and of parts of the wheel.

The tests are no part of the wheel; what they would add is measured by the same compression.

    python benchmarks/distributions.py --table docs/results/distributions.csv
"""

import argparse
import csv
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parents[1]
PARTS = {
    "studies of the reproductions": "gpbandits/reproductions/studies/",
    "measured tables": "bandit_envs/data/tables/",
}


def compressed(files: Iterable[Path], into: Path) -> list[zipfile.ZipInfo]:
    """Return files as a wheel would hold them."""
    with zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in files:
            archive.write(file, file.relative_to(ROOT))
        return archive.infolist()


def row(what: str, files: int, size: int) -> dict[str, object]:
    return {"what": what, "files": files, "kB": round(size / 1000)}


def rows(folder: Path) -> list[dict[str, object]]:
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    held = zipfile.ZipFile(wheel).infolist()
    tests = compressed(sorted((ROOT / "tests").rglob("*.py")), folder / "tests.zip")
    found = [row("wheel", len(held), wheel.stat().st_size)]
    for name, start in PARTS.items():
        part = [each.compress_size for each in held if each.filename.startswith(start)]
        found.append(row(f"of it {name}", len(part), sum(part)))
    found.append(row("tests, not in it", len(tests), (folder / "tests.zip").stat().st_size))
    with tarfile.open(sdist) as archive:
        found.append(row("sdist", sum(each.isfile() for each in archive), sdist.stat().st_size))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", type=Path)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = rows(Path(folder))
    print(*found, sep="\n")
    if chosen.table is not None:
        with chosen.table.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(found[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(found)


if __name__ == "__main__":
    main()
