"""Results are converted to Arrow tables in long form and stored as Parquet files."""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bandit_envs.basics.arguments import require
from bandit_envs.basics.files import whole_file
from gpbandits.evaluation.curves import Curves
from gpbandits.evaluation.record import Record, one_each, ragged
from gpbandits.evaluation.spending import Spending

_Kind = TypeVar("_Kind", bound=Curves)
SPENDING = ("spent", "shortfall")  # columns where plays cost
_KEY = b"gpbandits"  # key of our JSON in a file's metadata
_DIGEST = b"gpbandits-digest"  # key of the hash of that JSON and of the columns of numbers


class DamagedFileError(ValueError):
    """A file of results is incomplete, or its bytes were changed."""


def to_table(result: Curves) -> pa.Table:
    """Return a table with one row for each agent, trial and recorded round.

    Constraints and coordinates of actions have a column each.
    """
    shape = (len(result.agents), result.num_trials, len(result.rounds))
    agent, trial, index = (axis.ravel() for axis in np.indices(shape, dtype=np.int32))
    records = [np.stack(parts) for parts in list(zip(*result.records.values(), strict=True))[:6]]
    regret, simple_regret, cost, violation, observed, action = (
        part.reshape(agent.size, *part.shape[3:]) for part in records
    )
    columns: dict[str, Any] = {
        "agent": pa.DictionaryArray.from_arrays(agent, result.agents),
        "trial": trial.astype(np.int64) + result.first_trial,
        "round": result.rounds[index],
        "regret": np.stack(list(result.regret.values())).ravel(),
        "round_regret": regret,
        "simple_regret": simple_regret,
        "round_violation": violation,
    }
    if result.spent:
        spendings = [record.spending for record in result.records.values()]
        for name in SPENDING:
            columns[f"round_{name}"] = np.stack([getattr(each, name) for each in spendings]).ravel()
    for name, parts in _totals(result).items():
        columns |= _coordinates(name, np.stack(parts).reshape(agent.size, *np.shape(parts[0])[2:]))
    for name, values in (("cost", cost), ("observed_cost", observed), ("action", action)):
        columns |= _coordinates(name, values)
    return pa.table(columns)


def write(
    result: Curves, path: str | os.PathLike[str], metadata: Mapping[str, Any], timings: bool = True
) -> None:
    """Write one file, whole or not at all.

    Without timings its bytes are a function of the numbers and the metadata.
    """
    header = _header(result, metadata) | ({} if timings else {"seconds": None})
    table, text = to_table(result), json.dumps(header).encode()
    table = table.replace_schema_metadata({_KEY: text, _DIGEST: _digest(text, table)})
    with whole_file(path) as file:
        pq.write_table(table, file, compression="zstd")


def read(path: str | os.PathLike[str], kind: type[_Kind]) -> _Kind:
    """Read a result as this kind; its arrays equal those that were written.

    Raises:
        DamagedFileError: the file is damaged; the message names it.
    """
    require(not os.path.isdir(path), "path", "of a file that `save` wrote, not a folder", os.fspath(path))
    with _undamaged(path), pq.ParquetFile(path) as file:
        stored, table = file.schema_arrow.metadata or {}, file.read()
        if _DIGEST in stored and stored[_DIGEST] != _digest(stored[_KEY], table):
            raise ValueError("its digest is another")
        return kind(*_arguments(_header_of(stored, path), table))


def read_metadata(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read the metadata that was given to `write`, without the arrays."""
    with _undamaged(path), pq.ParquetFile(path) as file:
        return _header_of(file.schema_arrow.metadata or {}, path)["metadata"]


def _arguments(header: dict[str, Any], table: pa.Table) -> tuple[Any, ...]:
    """Return the arguments of a comparison, in the order of its fields."""
    shape = (len(header["agents"]), *header["shape"])
    columns = zip(
        _restored(table, "round_regret", shape),
        _restored(table, "simple_regret", shape),
        _restored(table, "cost", shape, header["cost_shape"]),
        _restored(table, "round_violation", shape),
        _restored(table, "observed_cost", shape, header["cost_shape"]),
        _restored(table, "action", shape, header["action_shape"]),
        _seconds(header),
        map(ragged, header["changes"]),
        map(ragged, header["alarms"]),
        map(one_each, _infeasible(header)),
        _spendings(header, table, shape),
        _covered(header),
        _restored_totals(header, table, shape),
        strict=True,
    )
    records = dict(zip(header["agents"], map(Record._make, columns), strict=True))
    checkpoints = None if header["checkpoints"] is None else np.array(header["checkpoints"], dtype=np.int64)
    return (
        header["environment"],
        header["seed"],
        records,
        frozenset(header["privileged"]),
        header["first_trial"],
        checkpoints,
        header.get("tracks", {}),
        header.get("windows", {}),
        frozenset(header.get("approximate", ())),
        frozenset(header.get("assuming", ())),
        header.get("entropy"),
        frozenset(header.get("unfit", ())),
        header.get("long_term", False),
    )


def _header(result: Curves, metadata: Mapping[str, Any]) -> dict[str, Any]:
    first = next(iter(result.records.values()))
    return {
        "environment": result.environment,
        "seed": result.seed,
        "shape": first.regret.shape,
        "cost_shape": first.cost.shape[2:],
        "action_shape": np.shape(first.action)[2:],
        "first_trial": result.first_trial,
        "checkpoints": None if result.checkpoints is None else result.rounds.tolist(),
        "agents": result.agents,
        "privileged": sorted(result.privileged),
        "tracks": dict(result.tracks),
        "windows": dict(result.windows),
        "approximate": sorted(result.approximate),
        "assuming": sorted(result.assuming),
        "seconds": [seconds.tolist() for seconds in result.seconds.values()],
        "changes": [record.changes.tolist() for record in result.records.values()],
        "alarms": [record.alarms.tolist() for record in result.records.values()],
        "infeasible": [record.infeasible.tolist() for record in result.records.values()],
        "metadata": dict(metadata),
    } | _of_some(result)


def _of_some(result: Curves) -> dict[str, Any]:
    """Return the entries that only some environments and runs have."""
    played = [played.tolist() for played in result.played.values()]
    covered = [covered.tolist() for covered in result.coverage.values()]
    entropy = {} if result.entropy is None else {"entropy": result.entropy}
    totals = {name: np.shape(parts[0])[2:] for name, parts in _totals(result).items()}
    some: dict[str, Any] = {"played": played if result.spent else [], "covered": covered, "totals": totals}
    some |= {"unfit": sorted(result.unfit), "long_term": result.long_term}
    return {name: values for name, values in some.items() if values} | entropy


def _totals(result: Curves) -> dict[str, list[Any]]:
    """Return the running totals of each agent where rounds are thinned, by measure."""
    totals = [record.totals or {} for record in result.records.values()]
    shared = [name for name in totals[0] if all(name in each for each in totals)]
    return {name: [each[name] for each in totals] for name in shared}


def _restored_totals(header: Mapping[str, Any], table: pa.Table, shape: tuple[int, ...]) -> list[Any]:
    """Return the totals of each agent; None if every round is recorded, or in files of older versions."""
    tails = header.get("totals") or {}
    if not tails:
        return [None] * shape[0]
    parts = {name: _restored(table, name, shape, tail) for name, tail in tails.items()}
    return [{name: part[i] for name, part in parts.items()} for i in range(shape[0])]


def _covered(header: Mapping[str, Any]) -> list[Any]:
    """Return the covered shares of each agent; None where reachable arms are not defined."""
    if header.get("covered") is None:
        return [None] * len(header["agents"])
    return list(np.array(header["covered"], dtype=np.float64))


def _spendings(header: Mapping[str, Any], table: pa.Table, shape: tuple[int, ...]) -> list[Spending | None]:
    """Return the spendings of each agent; None where plays are free."""
    if header.get("played") is None:
        return [None] * shape[0]
    played = np.array(header["played"], dtype=np.int64)
    columns = (_restored(table, f"round_{name}", shape) for name in SPENDING)
    return [Spending(*each) for each in zip(*columns, played, strict=True)]


def _infeasible(header: Mapping[str, Any]) -> list[list[Any]]:
    """Return the infeasible rounds of each agent; None in files of older versions."""
    nobody = [[None] * header["shape"][0] for _ in header["agents"]]
    return header.get("infeasible", nobody)


@contextmanager
def _undamaged(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn an error of Arrow, JSON or ours into one that names the file."""
    try:
        yield
    except _ForeignFileError:
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
    if _KEY not in stored:
        raise _ForeignFileError(f"{path} is a Parquet file, but not one that Result.save wrote")
    return json.loads(stored[_KEY])


def _digest(header: bytes, table: pa.Table) -> bytes:
    """Return the hash of the header and of every column that `read` uses."""
    total = hashlib.sha256(header)
    for name in sorted(set(table.column_names) - {"agent"}):
        total.update(name.encode() + table[name].to_numpy().tobytes())
    return total.hexdigest().encode()


def _seconds(header: dict[str, Any]) -> Any:
    """Return the seconds of each agent's trials, (agents, B); NaN in a file without timings."""
    if header["seconds"] is None:
        return np.full((len(header["agents"]), header["shape"][0]), np.nan)
    return np.array(header["seconds"], dtype=np.float64)


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
