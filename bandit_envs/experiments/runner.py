"""Computing the cells that a store does not hold yet, in parallel processes."""

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from joblib import Parallel, cpu_count, delayed
from threadpoolctl import threadpool_limits

from bandit_envs.evaluation import evaluate
from bandit_envs.evaluation.result import Result
from bandit_envs.experiments.store import Store
from bandit_envs.experiments.study import Cell, Study


class Outcome(NamedTuple):
    """What became of a cell."""

    cell: Cell
    failure: str | None  # the traceback, if it raised


def run(
    study: Study,
    store: Store,
    workers: int | None = None,
    report: Callable[[Outcome], None] = lambda outcome: None,
) -> list[Outcome]:
    """Compute the missing cells and return those that failed; the others are not stopped by a failure.

    Args:
        study: whose cells are computed.
        store: keeps each cell as soon as it is computed, so that a run can be interrupted and resumed.
        workers: number of processes; by default one a core.
        report: called in this process after each cell.
    """
    missing = [cell for cell in study.cells() if not store.holds(cell)]
    workers = min(workers or cpu_count(), max(len(missing), 1))
    store.folder.mkdir(parents=True, exist_ok=True)
    # Paths are settled here: editing the code during a run must not rename what the old code computes.
    tasks = [delayed(_compute_and_keep)(cell, store.path(cell), store.metadata(cell)) for cell in missing]
    failed = []
    outcomes: Any = Parallel(workers, return_as="generator_unordered")(tasks)
    for outcome in outcomes:
        report(outcome)
        if outcome.failure is not None:
            failed.append(outcome)
    return failed


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


def _compute_and_keep(cell: Cell, path: Path, metadata: dict[str, Any]) -> Outcome:
    try:
        with threadpool_limits(1):  # trials are parallel already, and the matrices small
            compute(cell).save(path, metadata)
    except Exception:  # whatever it is, the other cells go on and the caller reports it
        return Outcome(cell, traceback.format_exc())
    return Outcome(cell, None)
