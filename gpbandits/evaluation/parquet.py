"""Results are converted to Arrow tables in long form and stored as Parquet files."""

import hashlib
import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bandit_envs.basics.arguments import is_count, require
from bandit_envs.basics.files import check_path, require_no_pipe, whole_file
from gpbandits.evaluation.comparison import SETS
from gpbandits.evaluation.curves import Curves
from gpbandits.evaluation.measures import headed
from gpbandits.evaluation.record import Record, one_each, ragged
from gpbandits.evaluation.signals import as_data, from_data
from gpbandits.evaluation.stamp import Origin, checked

_Kind = TypeVar("_Kind", bound=Curves)
SPENDING = ("spent", "shortfall")  # fields where plays cost
OF_SOME = {name: f"round_{name}" for name in (*SPENDING, "moved")}  # columns where plays or moves cost
# columns
CURVES = {"regret": "round_regret", "simple_regret": "simple_regret", "violation": "round_violation"}
COORDINATES = ("cost", "observed_cost", "action")  # a column each
_PLAIN = ("environment", "seed", "first_trial", "tracks", "windows", "entropy", "long_term")
# fields of a record with a list a trial in the JSON, some of them not in older files, and how they are read
_LISTS = {"changes": ragged, "alarms": ragged, "infeasible": one_each}
_LISTS |= {name: lambda each: None if each is None else np.array(each) for name in ("played", "covered")}
MAX_BYTES = 2**32  # limit of a file, and of its table in memory
SMALL = 2**16  # bytes of a table up to which compression saves nothing and takes a quarter of the reading
_KEY = b"gpbandits"  # of our JSON in a file's metadata
_DIGEST = b"gpbandits-digest"  # of that JSON and of the columns of numbers


class TooLargeError(ValueError):
    """A file of results takes more bytes than allowed."""


class DamagedFileError(ValueError):
    """A file of results is incomplete, or its bytes were changed."""


def to_table(result: Curves) -> pa.Table:
    """Return a table of a row an agent, trial and recorded round, and a column a constraint or coordinate."""
    shape = (len(result.agents), result.num_trials, len(result.rounds))
    agent, trial, index = (axis.ravel() for axis in np.indices(shape, dtype=np.int32))
    records = result.records.values()
    rows = {name: _rows([getattr(record, name) for record in records]) for name in (*CURVES, *COORDINATES)}
    columns: dict[str, Any] = {
        "agent": pa.DictionaryArray.from_arrays(agent, result.agents),
        "trial": trial.astype(np.int64) + result.first_trial,
        "round": result.rounds[index],
        "regret": np.stack(list(result.regret.values())).ravel(),
    } | {column: rows[name] for name, column in CURVES.items()}
    for name, column in OF_SOME.items():
        if any(getattr(record, name) is not None for record in records):
            columns[column] = _rows([getattr(record, name) for record in records])
    for name, parts in _totals(result).items():
        columns |= _coordinates(name, _rows(parts))
    for measure in headed(result):  # of a thinned run it is among the totals
        if measure.name not in columns:
            held = result.held(measure.name)
            columns |= _coordinates(measure.name, _rows([held.get(label) for label in result.agents]))
    for name in COORDINATES:
        columns |= _coordinates(name, rows[name])
    return pa.table(columns)


def _rows(parts: Sequence[Any]) -> Any:
    """One row an agent, trial and round, (agents, B, T, ...) -> (n, ...); zeros of agents that lack it."""
    known = next(part for part in parts if part is not None)
    whole = np.stack([np.zeros_like(known) if part is None else part for part in parts])
    return whole.reshape(math.prod(whole.shape[:3]), *whole.shape[3:])


def write(
    result: Curves,
    path: str | os.PathLike[str],
    metadata: Mapping[str, Any],
    timings: bool = True,
    origins: Iterable[Origin] = (),
) -> None:
    """Write one file, whole or not at all; without timings its bytes follow from numbers and metadata."""
    header = _header(result, metadata) | ({} if timings else {"seconds": None})
    header |= {"origins": list(origins)} if origins else {}
    table, text = to_table(result), json.dumps(header).encode()
    table = table.replace_schema_metadata({_KEY: text, _DIGEST: _digest(text, table)})
    small = table.nbytes < SMALL  # its columns' descriptions are most of the file
    with whole_file(path) as file:
        pq.write_table(table, file, compression="none" if small else "zstd")


def read_with_metadata(
    path: str | os.PathLike[str], kind: type[_Kind], max_bytes: int = MAX_BYTES
) -> tuple[_Kind, dict[str, Any]]:
    """Read a result as this kind, its arrays as they were written, and the metadata given to `write`.

    A damaged file is a DamagedFileError; one that takes more than `max_bytes` is a ValueError.
    """
    check_path("path", path)
    require(is_count(max_bytes), "max_bytes", "a positive integer", max_bytes)
    require(not os.path.isdir(path), "path", "of a file that `save` wrote, not a folder", os.fspath(path))
    require_no_pipe("path", path)
    # Most files are small: threads, also one that reads ahead, would cost more than they save.
    with _undamaged(path), pq.ParquetFile(path, pre_buffer=False) as file:
        require_small(path, file.metadata, max_bytes)
        stored = file.schema_arrow.metadata or {}
        header = _header_of(stored, path)
        _require_counts(header, file)
        columns = [name for name in file.schema_arrow.names if name != "agent"]
        table = file.read(columns, use_threads=False)
        if _DIGEST in stored and stored[_DIGEST] != _digest(stored[_KEY], table):
            raise ValueError("its digest is another")
        return kind(**_arguments(header, table)), header["metadata"]


def require_small(path: str | os.PathLike[str], known: pq.FileMetaData, max_bytes: int) -> None:
    """Raise for a Parquet file whose bytes, or whose table in memory, are more, before any row is read.

    A file of a few bytes may repeat a number a billion times, so rows and columns count. Arrow itself raises
    where the rows are not those that the file declares.
    """
    unpacked = sum(known.row_group(i).total_byte_size for i in range(known.num_row_groups))
    size = max(os.stat(path).st_size, unpacked, 8 * known.num_rows * known.num_columns)
    if size > max_bytes:
        raise TooLargeError(
            f"{os.fspath(path)} takes more than {max_bytes} bytes; pass max_bytes={size} or more to load it "
            "all the same"
        )


def _require_counts(header: Mapping[str, Any], file: pq.ParquetFile) -> None:
    """Raise unless the header's trials, rounds and coordinates are the file's, before they are made room for.

    Text may unpack to more bytes than a file declares, so columns that are read hold numbers.
    """
    rows, columns = file.metadata.num_rows, file.schema_arrow
    counts = [len(header["agents"]), *header["shape"]]
    tails = [header["cost_shape"], header["action_shape"], *header.get("totals", {}).values()]
    numbers = [each.type for each in columns if each.name != "agent"]
    sound = (
        all(map(is_count, counts))
        and math.prod(counts) == rows
        and all(all(0 <= size <= len(columns) for size in tail) for tail in tails)
        and all(pa.types.is_integer(kind) or pa.types.is_floating(kind) for kind in numbers)
    )
    if not sound:
        raise ValueError("its rows are not those that its header declares")


def read_metadata(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read the metadata that was given to `write`, without the arrays."""
    require_no_pipe("path", path)
    with _undamaged(path), pq.ParquetFile(path) as file:
        return _header_of(file.schema_arrow.metadata or {}, path)["metadata"]


def _arguments(header: dict[str, Any], table: pa.Table) -> dict[str, Any]:
    """Return the arguments of a comparison; files of older versions lack some of the header."""
    agents, shape = header["agents"], (len(header["agents"]), *header["shape"])
    costs = header["cost_shape"]
    tails = {"cost": costs, "observed_cost": costs, "action": header["action_shape"]}
    columns: dict[str, Any] = {name: _restored(table, column, shape) for name, column in CURVES.items()}
    columns |= {name: _restored(table, name, shape, tails[name]) for name in COORDINATES}
    nobody = [None] * len(agents)
    unknown = {**dict.fromkeys(_LISTS, nobody), "infeasible": [[None] * shape[1]] * len(agents)}
    columns |= {name: list(map(kind, header.get(name, unknown[name]))) for name, kind in _LISTS.items()}
    timed = header["seconds"] is not None
    columns["seconds"] = np.array(header["seconds"], float) if timed else np.full(shape[:2], np.nan)
    columns["stopped"] = list(map(from_data, header.get("stopped", nobody)))
    totals = {x: _restored(table, x, shape, tail) for x, tail in header.get("totals", {}).items()}
    lacking = header.get("lacking", {})
    columns["totals"] = [
        {name: part[i] for name, part in totals.items() if label not in lacking.get(name, ())} or None
        for i, label in enumerate(agents)
    ]
    there = {name: column for name, column in OF_SOME.items() if column in table.column_names}
    columns |= {name: _restored(table, column, shape) for name, column in there.items()}
    records = {}
    for i, label in enumerate(agents):
        row = {name: values[i] for name, values in columns.items()}
        if row["played"] is None:  # of an agent that did not pay the zeros of the columns say nothing
            row |= dict.fromkeys(SPENDING)
        records[label] = Record(**row)
    checkpoints = None if header["checkpoints"] is None else np.array(header["checkpoints"], dtype=np.int64)
    given = {name: header[name] for name in _PLAIN if name in header}
    marked = {name: frozenset(header.get(name, ())) for name in SETS}
    also = {"checkpoints": checkpoints, "origins": checked(header.get("origins", ()))}
    return given | marked | {"records": records} | also


def _header(result: Curves, metadata: Mapping[str, Any]) -> dict[str, Any]:
    records = result.records.values()
    first, totals = next(iter(records)), _totals(result)
    header: dict[str, Any] = {
        "shape": first.regret.shape,
        "cost_shape": first.cost.shape[2:],
        "action_shape": np.shape(first.action)[2:],
        "checkpoints": None if result.checkpoints is None else result.rounds.tolist(),
        "agents": result.agents,
        "seconds": [seconds.tolist() for seconds in result.seconds.values()],
        "metadata": dict(metadata),
    }
    header |= {name: getattr(result, name) for name in _PLAIN}
    header |= {name: sorted(getattr(result, name)) for name in SETS}
    for name in _LISTS:
        lists = [None if (x := getattr(each, name)) is None else x.tolist() for each in records]
        header |= {name: lists} if any(each is not None for each in lists) else {}
    if result.stopped:
        header["stopped"] = [as_data(each.stopped) for each in records]
    if totals:
        known = {name: next(part for part in parts if part is not None) for name, parts in totals.items()}
        header["totals"] = {name: np.shape(part)[2:] for name, part in known.items()}
        header["lacking"] = {
            name: [label for label, part in zip(result.agents, parts, strict=True) if part is None]
            for name, parts in totals.items()
        }
    return header


def _totals(result: Curves) -> dict[str, list[Any]]:
    """Running totals of each agent where rounds are thinned, by measure; None of an agent that lacks it."""
    totals = [record.totals or {} for record in result.records.values()]
    names = dict.fromkeys(name for each in totals for name in each)
    return {name: [each.get(name) for each in totals] for name in names}


@contextmanager
def _undamaged(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn an error of Arrow, JSON or ours into one that names the file."""
    try:
        yield
    except (_ForeignFileError, TooLargeError):
        raise
    except (pa.ArrowException, OSError, ValueError, LookupError, TypeError) as error:
        if isinstance(error, OSError) and error.errno is not None:  # the file system's error names the file
            raise
        raise DamagedFileError(
            f"{os.fspath(path)} is damaged or not a Parquet file; delete it and compute it again"
        ) from error


class _ForeignFileError(ValueError):
    """A Parquet file was not written by `Result.save`."""


def _header_of(stored: Mapping[bytes, bytes], path: str | os.PathLike[str]) -> dict[str, Any]:
    if _KEY not in stored and _DIGEST not in stored:  # with one of them it is ours, and damaged
        raise _ForeignFileError(f"{path} is a Parquet file, but not one that Result.save wrote")
    return json.loads(stored[_KEY])


def _digest(header: bytes, table: pa.Table) -> bytes:
    """Return the hash of the header and of every column that is read."""
    total = hashlib.sha256(header)
    for name in sorted(set(table.column_names) - {"agent"}):
        total.update(name.encode() + table[name].to_numpy().tobytes())
    return total.hexdigest().encode()


def _coordinates(name: str, values: Any) -> dict[str, Any]:
    """Return the columns of values (n,) or (n, d), by name."""
    names = _names(name, np.shape(values)[1:])
    return dict(zip(names, np.reshape(values, (len(values), len(names))).T.copy(), strict=True))


def _restored(table: pa.Table, name: str, shape: tuple[int, ...], tail: list[int] | None = None) -> Any:
    """Return the array of shape (agents, B, T, *tail) from the columns of `_coordinates`."""
    columns = [table[column].to_numpy() for column in _names(name, tail or ())]
    return np.stack(columns, axis=-1).reshape(*shape, *(tail or ())) if columns else np.empty((*shape, 0))


def _names(name: str, tail: Sequence[int]) -> list[str]:
    return [f"{name}_{i}" for i in range(tail[0])] if tail else [name]
