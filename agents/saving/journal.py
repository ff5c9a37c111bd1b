"""Record an agent's calls as columns of arguments: some 100 bytes a round where objects take 2 KB."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

EVENTS = ("reset", "act", "update", "drop", "start")  # append, never insert: files list columns in order
NUMBERS = (np.ndarray, np.generic, float, int)
NUMERIC = "biuf"  # dtype kinds that are kept as arrays
BLOCK = 256  # calls that are moved to columns together
FIRST_ROWS = 16  # doubled whenever they are full


class Written(NamedTuple):
    """The part of a journal that is written."""

    calls: int  # number of calls in columns
    counts: tuple[int, ...]  # number of calls of each kind
    latest: list[tuple[str, tuple[Any, ...]]]  # calls not yet in columns


class Journal:
    """Records the calls since the last reset; an interrupted write leaves no trace of its call.

    Calls wait in a list and are moved to columns in blocks, since columns cost one call for each argument.
    """

    def __init__(self) -> None:
        self._kinds = bytearray()
        self._columns: list[list[Column]] = [[] for _ in EVENTS]
        self._written = Written(0, (0,) * len(EVENTS), [])

    def write(self, name: str, *arguments: Any) -> None:
        """Record a call that has been made; its arguments are copied."""
        latest = self._written.latest
        latest.append((name, tuple(_owned(arguments))))
        if len(latest) == BLOCK:
            self._pack()

    @property
    def events(self) -> list[str]:
        """Return the names of the calls, in order."""
        self._pack()
        return [EVENTS[kind] for kind in self._kinds[: self._written.calls]]

    @property
    def columns(self) -> list[list[Any]]:
        """Return each argument over all calls, for each kind of call."""
        self._pack()
        pairs = zip(self._columns, self._written.counts, strict=True)
        return [[column.data(count) for column in columns] if count else [] for columns, count in pairs]

    def _pack(self) -> None:
        """Move the latest calls to columns; after an interruption the move is repeated in full."""
        calls, before, latest = self._written
        counts = list(before)
        for name, arguments in latest:
            kind = EVENTS.index(name)
            columns = self._columns[kind] = self._columns[kind] or [Column() for _ in arguments]
            for column, argument in zip(columns, arguments, strict=True):
                column.put(counts[kind], argument)
            counts[kind] += 1
        self._kinds[calls:] = bytes(EVENTS.index(name) for name, _ in latest)
        self._written = Written(calls + len(latest), tuple(counts), [])


class Column:
    """Stores one argument call by call: an array while shapes agree, columns for dicts, else a list."""

    def __init__(self) -> None:
        self._kept: Any = []

    def put(self, row: int, value: Any) -> None:
        """Keep a copy as this row; later rows are lost."""
        if row == 0:
            self._kept = _begun(value)
        elif not self._takes(value):
            self._kept = self.rows(row)
        if isinstance(self._kept, dict):
            for key, column in self._kept.items():
                column.put(row, value[key])
        elif isinstance(self._kept, np.ndarray):
            if row == len(self._kept):
                self._kept = np.concatenate([self._kept, np.empty_like(self._kept)])
            self._kept[row] = value
        else:
            self._kept[row:] = [copied(value)]

    def data(self, count: int) -> Any:
        """Return the first rows: an array, a dict of such data, or a list."""
        if isinstance(self._kept, dict):
            return {key: column.data(count) for key, column in self._kept.items()}
        return self._kept[:count]

    def rows(self, count: int) -> list[Any]:
        """Return a list of the first rows."""
        return list(rows_of(copied(self.data(count))))

    def _takes(self, value: Any) -> bool:
        if isinstance(self._kept, dict):
            return isinstance(value, dict) and value.keys() == self._kept.keys()
        if isinstance(self._kept, np.ndarray):
            if not isinstance(value, NUMBERS):
                return False
            given = np.asarray(value)
            return given.shape == self._kept.shape[1:] and given.dtype == self._kept.dtype
        return True


def _begun(value: Any) -> Any:
    """Return a container for values like the first one."""
    if isinstance(value, dict) and value:
        return {key: Column() for key in value}
    first = np.asarray(value) if isinstance(value, NUMBERS) else None
    if first is None or first.dtype.kind not in NUMERIC:
        return []
    return np.empty((FIRST_ROWS, *first.shape), first.dtype)


def rows_of(data: Any) -> Iterator[Any]:
    """Iterate over the rows of a column's data."""
    if isinstance(data, dict):
        keys, columns = list(data), map(rows_of, data.values())
        return (dict(zip(keys, row, strict=True)) for row in zip(*columns, strict=True))
    return iter(data)


def copied(value: Any) -> Any:
    """Return a copy that its owner cannot change: arrays may be buffers that the next round overwrites."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, dict):
        return dict(zip(value, _owned(value.values()), strict=True))
    return _owned(value) if isinstance(value, list) else value


def _owned(values: Iterable[Any]) -> list[Any]:
    """Return copies of arrays, dicts and lists, and numbers as they are."""
    owned = []
    for value in values:
        if isinstance(value, np.ndarray):
            owned.append(value.copy())
        else:
            owned.append(copied(value) if isinstance(value, dict | list) else value)
    return owned
