"""The file of a cell, cells put together to a result, and which cells of a study are computed.

That is found by listing the folder once and reading only files that are new: reading a cell to see that it is
valid takes milliseconds. An index beside the cells, a file in Parquet's format, keeps which were found valid
or computed: one of the same inode, size and time has not changed. It counts for the code alone that wrote it,
since another may ask more of a file. Only folders of many cells have an index, which may be removed at any
time.
"""

import os
import re
import stat
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bandit_envs.basics.files import whole_file
from gpbandits.evaluation.parquet import read_metadata, read_with_metadata
from gpbandits.evaluation.provenance import digest
from gpbandits.evaluation.result import Result
from gpbandits.experiments.locks import locked
from gpbandits.experiments.study import Cell, Study, key_of, keys_of

Rows = Mapping[str, Sequence[Result]]  # the blocks of trials of each agent, in order
Identity = tuple[int, int, int]  # a file with the same one has not changed


def comparable(rows: Rows) -> dict[str, list[Result]]:
    """Return each agent's leading blocks of the most frequent rounds and number of constraints."""

    def shape(block: Result) -> tuple[int, ...]:
        return *block.rounds.tolist(), block.num_constraints

    shapes = Counter(shape(block) for row in rows.values() for block in row)
    usual = [shape for shape, _ in shapes.most_common(1)]
    return {label: list(takewhile(lambda block: shape(block) in usual, row)) for label, row in rows.items()}


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
    for complaint in _complaints(path.stem, result, metadata.get("configuration")):
        raise UnfitFileError(f"{os.fspath(path)} {complaint}")
    return result


def _complaints(key: str, result: Result, stored: Any) -> Iterator[str]:
    """Yield why a result is not the cell of a key; only simple regret and observed costs may be NaN."""
    for record in result.records.values():
        always = (record.regret, record.cost, record.violation, record.action)
        further = (record.spent, record.shortfall, record.moved)
        if not all(np.isfinite(each).all() for each in (*always, *further) if each is not None):
            yield "has values that are NaN or infinite"
    if not isinstance(stored, Mapping):
        yield "does not hold a cell of a study"
    elif key_of(stored) != key:
        parts = (f"{name} {stored.get(name)}" for name in ("agent", "options", "environment", "kwargs"))
        yield f"holds another cell: {', '.join(parts)}"
    else:
        named = tuple(stored.get(name) for name in ("seed", "first_trial", "trials"))
        if named != (found := (result.seed, result.first_trial, result.num_trials)):
            yield f"must have the seed, first trial and number of trials {named}, got {found}"
    if lacking := result.uncounted:  # a report would raise
        yield (
            f"did not count {', '.join(lacking)} between its checkpoints, as an older version recorded it; "
            "run the study again"
        )


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


def _identity(path: Path | os.DirEntry[str]) -> Identity | None:
    """Return what tells whether a file has changed; None where it is missing."""
    try:
        known = path.stat()
    except FileNotFoundError:
        return None
    return known.st_ino, known.st_size, known.st_mtime_ns


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


INDEX = ".index"
WORTH = 500  # new files, whose reading takes a second or more, that are worth an index
_WRITING = "f" * 32  # key whose lock a writer of the index holds
_READER = b"gpbandits-reader"  # digests of the code that found the files valid
_CELL = re.compile(r"([0-9a-f]{32})(\.parquet|\.failed\.txt)")


class Survey(NamedTuple):
    """A survey has the cells of a study in order, and the state of each by the key that names its file."""

    cells: list[Cell]
    keys: list[str]  # of the cells
    valid: set[str]
    faults: dict[str, str]  # why an invalid file is one
    failed: set[str]  # without a valid file, and with the traceback of an attempt

    @property
    def missing(self) -> Iterator[tuple[Cell, str]]:
        """Yield the cells without a valid file, with their keys."""
        return ((cell, key) for cell, key in zip(self.cells, self.keys, strict=True) if key not in self.valid)

    def trials(self, state: set[str]) -> Counter[tuple[str, str]]:
        """Count the trials of cells in a state, such as `valid`, by the labels of agent and environment."""
        counts: Counter[tuple[str, str]] = Counter()
        for cell, key in zip(self.cells, self.keys, strict=True):
            if key in state:
                counts[cell.agent.label, cell.environment.label] += cell.trials
        return counts


def survey(study: Study, folder: Path, code: Callable[[Cell], Mapping[str, Any]]) -> Survey:
    """Return the states of the cells of a study in a folder; the names of their files contain their code."""
    cells = list(study.cells())
    keys = list(keys_of(cells, code))
    found, attempts = _listed(folder, set(keys))
    index, fresh = index_of(folder), 0
    valid, faults = set(), {}
    for key, identity in found.items():
        if index.get(key) != identity:
            fresh += 1
            if (reason := fault(folder / f"{key}.parquet")) is not None:
                faults[key] = reason
                continue
        valid.add(key)
    if valid and fresh >= WORTH:
        _add_to_index(folder, {key: found[key] for key in valid})
    return Survey(cells, keys, valid, faults, attempts - valid)


def reader() -> str:
    """Return digests of the code that says whether a file is valid."""
    modules = ("gpbandits", "gpbandits.evaluation.parquet", "gpbandits.experiments.cells")
    return " ".join(map(digest, modules))


def note(folder: Path, keys: Sequence[str]) -> None:
    """Add cells that were just computed to the index, if they are many."""
    if len(keys) >= WORTH:
        found = {key: _identity(folder / f"{key}.parquet") for key in keys}
        _add_to_index(folder, {key: each for key, each in found.items() if each is not None})


def _listed(folder: Path, wanted: set[str]) -> tuple[dict[str, Identity], set[str]]:
    """Return the identities of the files of cells by key, and the keys of those with a traceback."""
    found, attempts = {}, set()
    if not folder.is_dir():
        return found, attempts
    with os.scandir(folder) as entries:
        for entry in entries:
            named = _CELL.fullmatch(entry.name)
            if named is None or named[1] not in wanted:
                continue
            if named[2] != ".parquet":
                attempts.add(named[1])
            elif (identity := _identity(entry)) is not None:  # else removed since
                found[named[1]] = identity
    return found, attempts


def index_of(folder: Path) -> dict[str, Identity]:
    """Return the identities of the files that were found valid; none without a readable index."""
    try:
        table = pq.read_table(folder / INDEX, memory_map=False)
        if (table.schema.metadata or {}).get(_READER) != reader().encode():
            return {}
        keys, *identity = (table.column(name).to_pylist() for name in ("key", "inode", "size", "time"))
    except (OSError, ValueError, LookupError):
        return {}
    return dict(zip(keys, zip(*identity, strict=True), strict=True))


def _add_to_index(folder: Path, found: Mapping[str, Identity]) -> None:
    """Write the index with further files; jobs that share the folder take turns, so that none is lost."""
    with locked(folder, _WRITING):
        known = {**index_of(folder), **found}
        inode, size, time = zip(*known.values(), strict=True)
        columns = {"key": list(known), "inode": inode, "size": size, "time": time}
        kinds = {"key": pa.string(), "inode": pa.uint64(), "size": pa.int64(), "time": pa.int64()}
        table = pa.table(columns, schema=pa.schema(kinds, {_READER: reader().encode()}))
        with whole_file(folder / INDEX) as file:
            pq.write_table(table, file)
