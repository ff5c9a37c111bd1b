"""A submission is a Parquet file of what an agent played on the real tasks, and how that agent is made."""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bandit_envs.basics.arguments import is_integer, require, require_choice
from bandit_envs.basics.files import check_path, sweep_beside, whole_file
from bandit_envs.environment.registration import real_id
from bandit_envs.problems.real import real, tasks
from gpbandits.evaluation import evaluate
from gpbandits.evaluation.isolation import isolated_by_name
from gpbandits.evaluation.parquet import TooLargeError, require_small
from gpbandits.evaluation.provenance import versions
from gpbandits.evaluation.result import Result

_KEY = b"gpbandits-submission"  # of our JSON in a file's metadata
COLUMNS = ("task", "trial", "round", "action", "regret", "violation")
MAX_BYTES = 2**30  # of a file, and of its table in memory
CLOSE = 1e-6  # relative difference of regrets that another processor may make


class Spec(NamedTuple):
    """Hold how an agent is made, and the rounds that were played.

    Args:
        agent, options: a registered name or "package.module:Class", and its keyword arguments.
        seed: trial i is drawn from (seed, i).
        horizon: rounds of a trial, by task; all have as many trials.
        versions: of Python and of the packages that the numbers depend on.
    """

    agent: str
    options: dict[str, Any]
    seed: int
    trials: int
    horizon: dict[str, int]
    versions: dict[str, str]


class Verdict(NamedTuple):
    """Hold what was played again, as (task, trial), and what differs; without a difference it is accepted."""

    replayed: list[tuple[str, int]]
    reasons: list[str]


def write_submission(
    results: Mapping[str, Result],
    agent: str,
    options: Mapping[str, Any],
    path: str | os.PathLike[str],
    label: str | None = None,
) -> None:
    """Write what an agent played on tasks, {task: result}, to one file.

    Every result has the same seed and number of trials, from trial 0, and records all rounds.

    Args:
        agent, options: see `Spec`.
        label: the agent's in the results, by default its name.
    """
    first = next(iter(results.values()))
    for task, result in results.items():
        require_choice("task", task, tuple(tasks()))
        whole = result.first_trial == 0 and result.checkpoints is None
        require(whole, "result", "one from trial 0 on that records all rounds", task)
        same = (result.seed, result.num_trials) == (first.seed, first.num_trials)
        require(same, "result", "one of the same seed and trials as the others", task)
    horizon = {task: result.horizon for task, result in results.items()}
    spec = Spec(agent, dict(options), first.seed, first.num_trials, horizon, versions(agent))
    parts = [_columns(task, result, label or agent) for task, result in results.items()]
    columns = {name: np.concatenate([part[name] for part in parts]) for name in COLUMNS}
    table = pa.table(columns).replace_schema_metadata({_KEY: json.dumps(spec._asdict()).encode()})
    sweep_beside(path)
    with whole_file(path) as file:
        pq.write_table(table, file, compression="zstd")


def _columns(task: str, result: Result, label: str) -> dict[str, Any]:
    record = result.records[label]
    trial, round_ = (axis.ravel() for axis in np.indices(record.regret.shape))
    return {
        "task": np.full(len(trial), task),
        "trial": trial,
        "round": round_ + 1,
        "action": record.action.reshape(len(trial)).astype(np.int64),
        "regret": record.regret.ravel(),
        "violation": record.violation.ravel(),
    }


def check_submission(path: str | os.PathLike[str], replays: int = 5) -> Verdict:
    """Play so many trials of a submission again, and compare actions and regrets with the file's.

    The agent plays in a process of its own, which gets no oracle; the environment is played, and regrets are
    compared, in this one, which neither imports the agent's module nor unpickles what it answers. What this
    does not find: an agent that reads the tasks' tables from files or draws them from the trial's seed, which
    it can guess, the best of many seeds or of few trials, and a file that is written again until the chosen
    trials are honest.

    Which trials is decided by the SHA-256 of the file and by `replays`. An author who writes the file again
    and again can foresee the choice of one `replays`, so take a number of your own. The agent's code is run.
    Regrets may differ by a relative 1e-6; another processor may round otherwise and then play other actions,
    so check where the file was made, or ask for its versions.
    """
    require(replays >= 1, "replays", "at least 1", replays)
    spec, rows = _read(path)
    if reasons := list(_faults(spec, rows)):
        return Verdict([], reasons)
    pairs = [(task, trial) for task in spec.horizon for trial in range(spec.trials)]
    digest = hashlib.sha256(Path(path).read_bytes()).digest()
    rng = np.random.default_rng(int.from_bytes(digest, "big"))
    chosen = [pairs[i] for i in sorted(rng.choice(len(pairs), min(replays, len(pairs)), replace=False))]
    return Verdict(chosen, [said for pair in chosen if (said := _difference(spec, rows, *pair))])


def _read(path: str | os.PathLike[str]) -> tuple[Spec, dict[str, Any]]:
    check_path("path", path)
    require(Path(path).is_file(), "path", "that of a file which exists", os.fspath(path))
    try:
        require_small(path, pq.read_metadata(path), MAX_BYTES)
        table = pq.read_table(path)
        spec = Spec(**json.loads((table.schema.metadata or {})[_KEY]))
        require(_sound(spec), "spec", "one of whole numbers, with at least one task and trial", spec)
        rows = {name: table[name].to_numpy() for name in COLUMNS}
        return spec, {name: rows[name] if name == "task" else rows[name] + 0 for name in COLUMNS}
    except TooLargeError as error:
        raise ValueError(f"path must be of a file of at most {MAX_BYTES} bytes, got {path}") from error
    except (pa.ArrowException, KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"path must be of a file that `gpbandits submission pack` wrote, got {path}"
        ) from error


def _sound(spec: Spec) -> bool:
    counts = [spec.trials, *(spec.horizon.values() if isinstance(spec.horizon, dict) else [])]
    typed = isinstance(spec.agent, str) and isinstance(spec.options, dict)
    positive = len(counts) > 1 and all(is_integer(count) and count >= 1 for count in counts)
    return typed and positive and is_integer(spec.seed) and spec.seed >= 0


def _faults(spec: Spec, rows: Mapping[str, Any]) -> Iterator[str]:
    """Say what is missing or unknown before anything is played."""
    for task, horizon in spec.horizon.items():
        if task not in tasks():
            yield f"{task} is no task of the suite"
            continue
        own = rows["task"] == task
        expected = np.indices((spec.trials, horizon)).reshape(2, -1)
        given = np.array([rows["trial"][own], rows["round"][own] - 1])
        if given.shape != expected.shape or (given != expected).any():
            size = f"{spec.trials} trials x {horizon} rounds"
            yield f"{task}: the file must have one row for each of {size} in order"
        if not all(np.isfinite(rows[each][own]).all() for each in ("regret", "violation")):
            yield f"{task}: every regret and violation must be finite"
    if extra := sorted(set(rows["task"].tolist()) - spec.horizon.keys()):
        yield f"rows of tasks that the specification does not name: {', '.join(extra)}"


def _difference(spec: Spec, rows: Mapping[str, Any], task: str, trial: int) -> str | None:
    """Play one trial again and say where it differs first."""
    if spec.horizon[task] > (most := real(task=task).horizon):
        return f"{task}: a trial has at most {most} rounds, the file has {spec.horizon[task]}"
    try:
        played_again = evaluate(
            real_id(task),
            {"agent": isolated_by_name(spec.agent, spec.options)},
            trials=1,
            first_trial=trial,
            seed=spec.seed,
            env_kwargs={"horizon": spec.horizon[task]},
        )
    except Exception as error:  # an agent of somebody else may raise anything
        return f"{task}, trial {trial}: {spec.agent} cannot be played: {error}"
    if played_again.privileged:
        return f"{task}, trial {trial}: {spec.agent} declares itself privileged, and was given the truth"
    again = played_again.records["agent"]
    own = (rows["task"] == task) & (rows["trial"] == trial)
    played = {"action": again.action[0], "regret": again.regret[0], "violation": again.violation[0]}
    same = np.array(
        [np.isclose(rows[each][own], played[each], rtol=CLOSE, atol=1e-9) for each in played]
    ).all(0)
    if same.all():
        return None
    at = int(np.argmin(same))
    claimed, found = (
        ", ".join(f"{each} {values[at]:.6g}" for each, values in side.items())
        for side in ({each: rows[each][own] for each in played}, played)
    )
    return f"{task}, trial {trial}, round {at + 1}: the file has {claimed}; played again it is {found}"
