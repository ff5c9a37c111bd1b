"""Install a built wheel by its name, as users do, and play a study with it.

A local index serves our package alone, by its name and the hash of its file (PEP 503); dependencies come
from the index that pip is configured with, or are those of the environment that runs this.
"""

from __future__ import annotations

import functools
import hashlib
import http.server
import os
import subprocess
import sysconfig
import threading
import tomllib
import venv
from pathlib import Path

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
NAME, VERSION = PROJECT["name"], PROJECT["version"]
CHECK = "import gpbandits, sys; assert gpbandits.__file__.startswith(sys.prefix), gpbandits.__file__"


class Silent(http.server.SimpleHTTPRequestHandler):
    """A server of files that prints nothing."""

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""


def call(*command: str | Path, cwd: Path) -> None:
    """Run a command elsewhere than in the checkout, and without its path."""
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    print("$", *command, flush=True)
    subprocess.run([str(part) for part in command], cwd=cwd, env=variables, check=True)


def install_and_play(files: list[Path], folder: Path, extras: str, borrow: bool, study: Path) -> None:
    """Serve the files, install the wheel into a new environment, and play a study there."""
    handler = functools.partial(Silent, directory=str(index_of(files, folder)))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    venv.create(folder / "venv", with_pip=True, clear=True)
    python = folder / "venv" / "bin" / "python"
    try:
        address = f"http://127.0.0.1:{server.server_port}/simple"
        install(python, address, f"{NAME}[{extras}]=={VERSION}", borrow)
        call(python, "-c", CHECK, cwd=folder)
        call(python.with_name(NAME), "--version", cwd=folder)
        call(python.with_name(NAME), "run", study, "--out", folder / "results", cwd=folder)
    finally:
        server.shutdown()
    print(f"{NAME} {VERSION} was installed by its name and played {study.name}")


def index_of(files: list[Path], folder: Path) -> Path:
    """Write a simple index of these files."""
    place = folder / "index" / "simple" / NAME
    place.mkdir(parents=True, exist_ok=True)
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
