"""The file of a cell, and cells put together to a result."""

import os
import stat
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from gpbandits.evaluation.parquet import read_metadata, read_with_metadata
from gpbandits.evaluation.result import Result
from gpbandits.experiments.study import key_of

Rows = Mapping[str, Sequence[Result]]  # the blocks of trials of each agent, in order
Identity = tuple[int, int, int]  # a file with the same one has not changed


def usual_shape(rows: Rows) -> tuple[int, ...]:
    """Return the most frequent shape; blocks of another shape cannot be compared."""
    shapes = Counter(shape_of(block) for row in rows.values() for block in row)
    return max(shapes, key=shapes.__getitem__)


def shape_of(block: Result) -> tuple[int, ...]:
    """Return the recorded rounds and the number of constraints of a block."""
    return *block.rounds.tolist(), block.num_constraints


class UnfitFileError(ValueError):
    """A file is damaged, or holds another cell than its name says."""


def read_cell(path: Path) -> Result:
    """Read the result of the cell at `path`, and check that the stored configuration fits the file's name.

    A damaged file, or another cell, is an UnfitFileError that names it; no file is a FileNotFoundError.
    """
    _check_regular(path)
    try:
        result, metadata = read_with_metadata(path, Result)
    except FileNotFoundError:
        raise
    except (ValueError, OSError) as error:
        raise UnfitFileError(str(error)) from error
    _check_finite(path, result)
    _check_bound(path, result, metadata.get("configuration"))
    _check_counted(path, result)
    return result


def sound(path: Path) -> Result | None:
    """Return the result of the cell at `path`; None where the file is missing or invalid."""
    identity = _identity(path)
    found = None if identity is None else latest(path, identity)
    return found if isinstance(found, Result) else None


def same_numbers(one: Path, other: Path) -> bool:
    """Return True if two valid files hold the same numbers, apart from seconds."""
    first, second = (next(iter(read_cell(path).records.values())) for path in (one, other))
    # The six fields of every round: what follows are seconds, and sums of these.
    return all(np.array_equal(*pair, equal_nan=True) for pair in zip(first[:6], second[:6], strict=True))


def fault(path: Path) -> str | None:
    """Return why the file at `path` is invalid; None where it is valid or missing."""
    identity = _identity(path)
    return None if identity is None else known_fault(path, identity)


def valid(path: Path) -> bool:
    """Return True if there is a valid file at `path`."""
    identity = _identity(path)
    return identity is not None and known_fault(path, identity) is None


def stored_configuration(path: Path) -> dict[str, Any] | None:
    """Return the configuration stored in the file at `path`; None where it cannot be read."""
    try:
        _check_regular(path)
        return read_metadata(path).get("configuration")
    except (ValueError, OSError):
        return None


def identity_of(known: os.stat_result) -> Identity:
    """Return what tells whether a file has changed."""
    return known.st_ino, known.st_size, known.st_mtime_ns


def _identity(path: Path) -> Identity | None:
    try:
        return identity_of(path.stat())
    except FileNotFoundError:
        return None


@cache
def known_fault(path: Path, identity: Identity) -> str | None:
    """Return `fault` of a file that has not changed."""
    found = latest(path, identity)
    return found if isinstance(found, str) else None


@lru_cache(maxsize=1)  # a file is often read just after it was found valid
def latest(path: Path, _: Identity) -> Result | str | None:
    """Return the result of a file or its fault; None where it is missing."""
    try:
        return read_cell(path)
    except UnfitFileError as error:
        return str(error)
    except FileNotFoundError:
        return None


def _check_regular(path: Path) -> None:
    """Raise for a FIFO or a device, from which a read would block."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise UnfitFileError(f"{os.fspath(path)} is not a regular file; remove it")


def _check_finite(path: Path, result: Result) -> None:
    """Raise where a value is not finite; only simple regret and observed costs may be NaN."""
    for record in result.records.values():
        further = [*(record.spending or ())[:2], *([] if record.moved is None else [record.moved])]
        always = (record.regret, record.cost, record.violation, record.action, *further)
        if not all(np.isfinite(values).all() for values in always):
            raise UnfitFileError(f"{os.fspath(path)} has values that are NaN or infinite")


def _check_counted(path: Path, result: Result) -> None:
    """Raise where a report would: an older version did not count all measures between checkpoints."""
    if lacking := result.uncounted:
        raise UnfitFileError(
            f"{os.fspath(path)} did not count {', '.join(lacking)} between its checkpoints, as an older "
            "version recorded it; run the study again"
        )


def _check_bound(path: Path, result: Result, stored: Any) -> None:
    if not isinstance(stored, Mapping):
        raise UnfitFileError(f"{os.fspath(path)} does not hold a cell of a study")
    if key_of(stored) != path.stem:
        parts = (f"{name} {stored.get(name)}" for name in ("agent", "options", "environment", "kwargs"))
        raise UnfitFileError(f"{os.fspath(path)} holds another cell: {', '.join(parts)}")
    named = tuple(stored.get(name) for name in ("seed", "first_trial", "trials"))
    if named != (found := (result.seed, result.first_trial, result.num_trials)):
        raise UnfitFileError(
            f"{os.fspath(path)} must have the seed, first trial and number of trials {named}, got {found}"
        )
