"""Which cells of a study are computed, found by listing the folder once and reading only files that are new.

Reading a cell to see that it is valid takes milliseconds. An index beside the cells, a file in Parquet's
format, keeps which were found valid or computed: one of the same inode, size and time has not changed. It
counts for the code alone that wrote it, since another may ask more of a file. Only folders of many cells have
an index, which may be removed at any time.
"""

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from bandit_envs.basics.files import whole_file
from gpbandits.evaluation.provenance import digest
from gpbandits.experiments.cells import Identity, fault, identity_of
from gpbandits.experiments.locks import locked
from gpbandits.experiments.study import Cell, Study, keys_of

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
    """Return the states of the cells of a study in a folder of cells, whose names contain their code."""
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
    if len(keys) < WORTH:
        return
    found = {}
    for key in keys:
        with suppress(FileNotFoundError):  # removed since
            found[key] = identity_of((folder / f"{key}.parquet").stat())
    _add_to_index(folder, found)


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
                continue
            with suppress(FileNotFoundError):  # removed since
                found[named[1]] = identity_of(entry.stat())
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
        table = pa.table({name: pa.array(values, kinds[name]) for name, values in columns.items()})
        table = table.replace_schema_metadata({_READER: reader().encode()})
        with whole_file(folder / INDEX) as file:
            pq.write_table(table, file)
