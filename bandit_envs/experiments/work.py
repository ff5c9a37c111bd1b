"""Computing one cell, in whatever process: what runs side by side, on this machine or on others."""

import time
import traceback
from pathlib import Path
from typing import Any, NamedTuple

from threadpoolctl import threadpool_limits

from bandit_envs.evaluation import evaluate
from bandit_envs.evaluation.files import write_whole
from bandit_envs.evaluation.result import Result
from bandit_envs.experiments.claims import claimed
from bandit_envs.experiments.store import failure_beside
from bandit_envs.experiments.study import Cell
from bandit_envs.types import Floats


class Task(NamedTuple):
    """A cell, the file that is to hold it, and what is kept there beside the numbers.

    Settled before the run: editing the code in the meantime must not rename what the old code computes.
    """

    cell: Cell
    path: Path
    metadata: dict[str, Any]


class Outcome(NamedTuple):
    """What became of a cell."""

    cell: Cell
    failure: str | None = None  # the traceback, if it raised
    regret: Floats | None = None  # (trials,) cumulative regret at the horizon, if it did not


def settle(task: Task) -> Outcome:
    """Compute a cell and keep its numbers, or its traceback; take what another process has kept meanwhile."""
    with claimed(task.path.parent, task.path.stem):
        if task.path.exists():
            return _done(task, Result.load(task.path))
        begun = time.perf_counter()
        try:
            with threadpool_limits(1):  # cells are parallel already, and the matrices small
                result = compute(task.cell)
        except Exception:  # whatever it is, the other cells go on and the caller reports it
            return _failed(task, traceback.format_exc())
        _keep(task, result, time.perf_counter() - begun)
        return _done(task, result)


def compute(cell: Cell) -> Result:
    """Play one cell: the same numbers as those trials of that agent in one `evaluate` of everything."""
    result = evaluate(
        cell.environment.id,
        {cell.agent.name: (cell.agent.name, cell.agent.options)},
        trials=cell.trials,
        seed=cell.seed,
        env_kwargs=cell.environment.kwargs,
        first_trial=cell.first_trial,
    )
    return cell.checkpoints.thin(result)


def _keep(task: Task, result: Result, seconds: float) -> None:
    timings = {"seconds": seconds, "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
    try:
        result.save(task.path, task.metadata | {"timings": timings})
    except (
        OSError
    ) as error:  # it would meet every other cell as well: stop here, and resume when it is mended
        reason = f"{error.strerror or error}; mend that and run again, what is computed is kept"
        raise OSError(error.errno, reason, str(task.path)) from error
    failure_beside(task.path).unlink(missing_ok=True)


def _failed(task: Task, failure: str) -> Outcome:
    write_whole(failure_beside(task.path), f"{task.cell}\n\n{failure}".encode())
    return Outcome(task.cell, failure=failure)


def _done(task: Task, result: Result) -> Outcome:
    (curve,) = result.regret.values()
    return Outcome(task.cell, regret=curve[:, -1])
