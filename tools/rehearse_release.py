"""Rehearses a release on this machine: build, check, a local index, an installation by name, and a study.

    python tools/rehearse_release.py            # in a checkout with the extra `dev`
    python tools/rehearse_release.py --extras eval,data --study examples/studies/demo.toml
    python tools/rehearse_release.py --borrow   # without a network

The index serves our package alone, by its name and the hash of its file (PEP 503); dependencies come from the
index that pip is configured with, or with `--borrow` from the environment that runs this. The new environment
lies with all else in a temporary folder.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import http.server
import os
import subprocess
import sys
import sysconfig
import tempfile
import threading
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
NAME, VERSION = PROJECT["name"], PROJECT["version"]
CHECK = "import gpbandits, sys; assert gpbandits.__file__.startswith(sys.prefix), gpbandits.__file__"


class Silent(http.server.SimpleHTTPRequestHandler):
    """A server of files that prints nothing."""

    def log_message(self, *_: object) -> None:
        """Print nothing."""


def call(*command: str | Path, cwd: Path) -> None:
    """Run a command elsewhere than in the checkout, and without its path."""
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    print("$", *command, flush=True)
    subprocess.run([str(part) for part in command], cwd=cwd, env=variables, check=True)


def built(folder: Path) -> list[Path]:
    """Build and check both distributions."""
    call(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder / "dist", ROOT, cwd=folder)
    files = sorted((folder / "dist").iterdir())
    call(sys.executable, "-m", "twine", "check", "--strict", *files, cwd=folder)
    return files


def index_of(files: list[Path], folder: Path) -> Path:
    """Write a simple index of these files."""
    place = folder / "index" / "simple" / NAME
    place.mkdir(parents=True)
    links = []
    for file in files:
        content = file.read_bytes()
        (place / file.name).write_bytes(content)
        links.append(f'<a href="{file.name}#sha256={hashlib.sha256(content).hexdigest()}">{file.name}</a>')
    (place / "index.html").write_text("<!DOCTYPE html>\n" + "\n".join(links), encoding="utf-8")
    return folder / "index"


def install(python: Path, address: str, wanted: str, borrow: bool) -> None:
    """Install by name from the local index, with dependencies of pip's index or of this environment."""
    where = ["--no-deps", "--index-url"] if borrow else ["--extra-index-url"]
    folder = python.parents[1]
    call(python, "-m", "pip", "install", "--quiet", *where, address, wanted, cwd=folder)
    if borrow:  # a path in a .pth file comes after the environment's own packages
        (place,) = folder.glob("lib/python*/site-packages")
        (place / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")


def main() -> None:
    """Rehearse."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--extras", default="eval", help="extras to install, with commas between")
    parser.add_argument("--borrow", action="store_true", help="use the dependencies that are installed here")
    parser.add_argument("--study", type=Path, default=ROOT / "examples" / "studies" / "quick.toml")
    chosen = parser.parse_args()
    study = chosen.study.resolve()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        index = index_of(built(folder), folder)
        server = http.server.ThreadingHTTPServer(
            ("127.0.0.1", 0), functools.partial(Silent, directory=str(index))
        )
        threading.Thread(target=server.serve_forever, daemon=True).start()
        venv.create(folder / "venv", with_pip=True)
        python = folder / "venv" / "bin" / "python"
        address = f"http://127.0.0.1:{server.server_port}/simple"
        wanted = f"{NAME}[{chosen.extras}]=={VERSION}"
        install(python, address, wanted, chosen.borrow)
        call(python, "-c", CHECK, cwd=folder)
        command = python.with_name(NAME)
        call(command, "--version", cwd=folder)
        call(command, "run", study, "--out", folder / "results", cwd=folder)
        server.shutdown()
    print(f"{NAME} {VERSION} was built, checked, installed by its name and played {study.name}")


if __name__ == "__main__":
    main()
