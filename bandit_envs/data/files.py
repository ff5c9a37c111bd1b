"""Find the public data files: in $GPBANDITS_DATA, in the user's cache, or at their original address."""

import hashlib
import os
from functools import cache
from pathlib import Path
from typing import NamedTuple

from bandit_envs.basics.arguments import command_for, require_known
from bandit_envs.basics.files import shipped

VARIABLE = "GPBANDITS_DATA"


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
    given = os.environ.get(VARIABLE)
    if given and (path := Path(given) / file).is_file():
        check_sum(path, source.sha256, f"replace it by {source.url} or remove it from ${VARIABLE}")
        return path
    path = cache_folder() / file
    # A damaged file in the cache is no error: the next download replaces it.
    return path if path.is_file() and sha256_of(path) == source.sha256 else None


def download(file: str, source: Source, folder: Path) -> Path:
    """Download a file into a folder and check it; pooch logs the address on stderr."""
    try:
        import pooch
    except ImportError as error:
        raise FileNotFoundError(
            f"{_missing(file, source)}, or enable downloads: {command_for('data')}"
        ) from error
    target = folder / file
    try:
        path = pooch.retrieve(source.url, f"sha256:{source.sha256}", target.name, target.parent)
    except OSError as error:  # also the base class of all errors of requests
        raise FileNotFoundError(f"{_missing(file, source)}; its download failed: {error}") from error
    return Path(path)


def cache_folder() -> Path:
    """Return the folder of downloads, the same with and without pooch, so that users can delete it."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gpbandits"


def _source(file: str) -> Source:
    require_known("data file", file, sources())
    return sources()[file]


def check_sum(path: Path, sha256: str, remedy: str) -> None:
    """Raise unless a file has this checksum."""
    given = sha256_of(path)
    if given != sha256:
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
