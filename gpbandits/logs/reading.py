"""Read logs from CSV, with the standard library alone, or from Parquet."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from bandit_envs.basics.arguments import ArgumentError, from_extra, is_integer, require
from bandit_envs.basics.files import check_path
from gpbandits.logs.columns import FeatureReader, reader_of
from gpbandits.logs.log import PlayLog
from gpbandits.logs.rows import row_error

CHUNK = 2000  # rows that are read together
Rows = Iterator[Sequence[Sequence[Any]]]  # blocks of rows


def read_log(
    path: str | os.PathLike[str],
    *,
    action: str = "action",
    reward: str = "reward",
    propensity: str = "propensity",
    time: str | None = None,
    delivered: str | None = None,
    available: str | None = None,
    context: Sequence[str] | None = None,
    actions: Sequence[str] | int | None = None,
    until: float | None = None,
    arms: Any = None,
) -> PlayLog:
    """Read a log from a CSV with a header, or from Parquet; damaged rows are refused by their number.

    Numbers of rows count from 1 below the header. Times are numbers, or dates such as
    2024-05-01T12:00:00, which become seconds since 1970. An empty cell of the delivery, and of the reward,
    is a reward that is not delivered; an empty propensity is unknown. A context column with text becomes a
    column of 0 and 1 for each of its values; one of more than 20,000 different values must be numbers.

    Args:
        path: file.
        action, reward, propensity: names of these columns.
        time, delivered, available: names of these columns; by default "time", "delivered" and "available"
            where they are there. Available actions have | between them, as in hat|shoe.
        context: names of the contexts' columns; by default those that begin with "context".
        actions: labels of all actions in the order of a policy's probabilities, or their number. With labels,
            cells are labels even where they are numbers, such as 101; else a column of integers alone
            holds indices.
        until, arms: as for `PlayLog`.
    """
    check_path("path", path)
    names, blocks = _parquet(path) if Path(path).suffix == ".parquet" else _csv(path)
    time = time or ("time" if "time" in names else None)
    delivered = delivered or ("delivered" if "delivered" in names else None)
    available = available or ("available" if "available" in names else None)
    asked = [each for each in names if each.startswith("context")] if context is None else list(context)
    wanted = {"action": action, "reward": reward, "propensity": propensity, "time": time}
    wanted |= {"delivered": delivered, "available": available}
    for name in [*wanted.values(), *asked]:
        require(name is None or name in names, "column", f"one of {', '.join(names)}", name)
    labelled = actions is not None and not is_integer(actions)
    readers = {key: reader_of(key, labelled) for key, name in wanted.items() if name is not None}
    readers |= {name: FeatureReader(name) for name in asked}
    place = {key: names.index(wanted.get(key) or key) for key in readers}
    _read(blocks, len(names), readers, place)
    columns = {key: reader.column() for key, reader in readers.items() if key in wanted}
    if delivered is not None:  # a reward that is not delivered has no value, whatever its cell says
        columns["reward"] = np.where(np.isnan(columns["delivered"]), np.nan, columns["reward"])
    features = [column for name in asked for column in readers[name].features()]
    table = np.column_stack(features) if features else None
    return PlayLog(**columns, context=table, actions=actions, until=until, arms=arms)


def _read(blocks: Rows, width: int, readers: dict[str, Any], place: dict[str, int]) -> None:
    row = 0
    for block in blocks:
        for i, cells in enumerate(block):
            if len(cells) != width:
                raise row_error(row + i, f"must have {width} cells, got {len(cells)}")
        columns = list(zip(*block, strict=True))
        for key, reader in readers.items():
            reader.take(columns[place[key]], row)
        row += len(block)
    require(row > 0, "path", "a file with a row below its header", "none")


@contextmanager
def _opened(path: str | os.PathLike[str]) -> Iterator[TextIO]:
    """Open a file as text; bytes that are not UTF-8 are refused by file and line."""
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            yield file
    except UnicodeDecodeError as error:  # it counts bytes from the start of a block, not of the file
        with open(path, "rb") as lines:
            line = next(i for i, each in enumerate(lines, 1) if not _is_utf8(each))
        words = f"must be a CSV in UTF-8; line {line} is not, got {os.fspath(path)}"
        raise ArgumentError("path", words) from error


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _csv(path: str | os.PathLike[str]) -> tuple[list[str], Rows]:
    with _opened(path) as file:
        names = next(csv.reader(file), [])
    require(len(set(names)) == len(names) > 0, "path", "a table with different names in its header", names)
    return names, _blocks(path)


def _blocks(path: str | os.PathLike[str]) -> Rows:
    with _opened(path) as file:
        lines = csv.reader(file)
        next(lines)
        while block := list(islice(lines, CHUNK)):
            yield block


def _parquet(path: str | os.PathLike[str]) -> tuple[list[str], Rows]:
    with from_extra("data", "Parquet files"):
        from pyarrow.parquet import ParquetFile

    file = ParquetFile(path)
    names = list(file.schema_arrow.names)
    batches = file.iter_batches(batch_size=CHUNK)
    return names, (list(zip(*(each.to_pylist() for each in batch.columns), strict=True)) for batch in batches)
