"""The file of a cell: it counts if its numbers are those that its name stands for."""

import os
import stat
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from gpbandits.evaluation.parquet import read_metadata
from gpbandits.evaluation.result import Result
from gpbandits.experiments.study import key_of


class UnfitFileError(ValueError):
    """A file that is damaged, or not the cell that its name stands for."""


def read_cell(path: Path) -> Result:
    """The numbers of the cell at `path`, whose stored configuration is compared with its name.

    Raises:
        UnfitFileError: it is damaged or another's; it names the file.
        FileNotFoundError: there is none.
    """
    _check_regular(path)
    try:
        result, metadata = Result.load(path), read_metadata(path)
    except FileNotFoundError:
        raise
    except (ValueError, OSError) as error:
        raise UnfitFileError(str(error)) from error
    _check_finite(path, result)
    _check_bound(path, result, metadata.get("configuration"))
    return result


def sound(path: Path) -> Result | None:
    """The numbers of the cell at `path`; None where it is missing or unfit."""
    try:
        return read_cell(path)
    except (UnfitFileError, FileNotFoundError):
        return None


def same_numbers(one: Path, other: Path) -> bool:
    """Return whether two sound files hold the same numbers, but for the time that they took."""
    first, second = (next(iter(read_cell(path).records.values())) for path in (one, other))
    pairs = zip(
        first[:6], second[:6], strict=True
    )  # of every round; what follows are seconds, and sums of these
    return all(np.array_equal(a, b, equal_nan=True) for a, b in pairs)


def fault(path: Path) -> str | None:
    """Why the file at `path` does not count; None where it does, or where there is none."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return _fault(path, found.st_ino, found.st_size, found.st_mtime_ns)


def stored_configuration(path: Path) -> dict[str, Any] | None:
    """What the file at `path` says that it was computed from; None where it cannot be read."""
    try:
        _check_regular(path)
        return read_metadata(path).get("configuration")
    except (ValueError, OSError):
        return None


@cache
def _fault(path: Path, *_identity: int) -> str | None:
    try:
        read_cell(path)
    except UnfitFileError as error:
        return str(error)
    except FileNotFoundError:
        return None
    return None


def _check_regular(path: Path) -> None:
    """Raise at once where reading would wait for a writer: a FIFO or a device."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise UnfitFileError(f"{os.fspath(path)} is no regular file; remove it")


def _check_finite(path: Path, result: Result) -> None:
    """Raise where what every play has is not finite; simple regret and observed costs may be missing."""
    for record in result.records.values():
        always = (record.regret, record.cost, record.violation, record.action, *(record.spending or ())[:2])
        if not all(np.isfinite(values).all() for values in always):
            raise UnfitFileError(f"{os.fspath(path)} has values that are NaN or infinite")


def _check_bound(path: Path, result: Result, stored: Any) -> None:
    if not isinstance(stored, Mapping):
        raise UnfitFileError(f"{os.fspath(path)} has the numbers of no cell of a study")
    if key_of(stored) != path.stem:
        raise UnfitFileError(f"{os.fspath(path)} has the numbers of another cell: {_described(stored)}")
    named = tuple(stored.get(name) for name in ("seed", "first_trial", "trials"))
    if named != (found := (result.seed, result.first_trial, result.num_trials)):
        raise UnfitFileError(
            f"{os.fspath(path)} must have the seed, first trial and number of trials {named}, got {found}"
        )


def _described(stored: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {stored.get(name)}" for name in ("agent", "options", "environment", "kwargs"))
