"""A run computes the cells of a study that its store does not hold yet."""

import warnings
from collections.abc import Callable, Sequence

from bandit_envs.basics.arguments import require
from bandit_envs.basics.files import sweep
from gpbandits.experiments.backends import Backend, local
from gpbandits.experiments.leftovers import tidied
from gpbandits.experiments.locks import holder
from gpbandits.experiments.store import Store
from gpbandits.experiments.study import Cell, Study
from gpbandits.experiments.work import Outcome, Task

Report = Callable[[Outcome], None]


def run(
    study: Study,
    store: Store,
    workers: int | None = None,
    report: Report = lambda outcome: None,
    backend: Backend | None = None,
    time_limit: float | None = None,
) -> list[Outcome]:
    """Compute the cells that are missing or invalid, and return those that failed; the others continue.

    Args:
        study: the study whose cells are computed.
        store: stores each cell as soon as it is computed, so that a run can be interrupted and resumed.
        workers: number of processes on this machine; by default one a core.
        report: called in this process after each cell.
        backend: where the cells are computed instead, such as `cluster.dask("tcp://10.0.0.1:8786")`.
        time_limit: seconds after which a cell, or the wait for another run's cell, has failed. Compiled code,
            which signals do not interrupt, ends with its process, unless that is the calling one.
    """
    require(time_limit is None or time_limit > 0.0, "time_limit", "a number of seconds above 0", time_limit)
    store.folder.mkdir(parents=True, exist_ok=True)
    missing = [cell for cell in study.cells() if not store.holds(cell)]
    tasks = [
        Task(cell, store.path(cell).absolute(), store.metadata(cell), time_limit=time_limit)
        for cell in missing
    ]
    backend, left = backend or local(workers), []
    sweep(store.folder)
    with tidied(store.folder):
        failed = _computed(backend, tasks, report, left.append)
        names = {id(cell) for cell in left}
        waiting = [task._replace(wait=True) for task in tasks if id(task.cell) in names]
        _warn_of(waiting)
        return failed + _computed(backend, waiting, report, left.append)


def _warn_of(waiting: Sequence[Task]) -> None:
    """Warn that cells are computed by other runs, which this run waits for."""
    if waiting:
        whom = sorted({holder(task.path.parent, task.path.stem) for task in waiting})
        text = f"waiting for {', '.join(whom)} of another run, computing {len(waiting)} cells of this one"
        warnings.warn(text, stacklevel=3)


def _computed(
    backend: Backend, tasks: Sequence[Task], report: Report, leave: Callable[[Cell], None]
) -> list[Outcome]:
    """Return the outcomes that failed, and pass cells that another run is computing to `leave`.

    Concurrent runs share the work this way; if they waited at once, they would proceed in step.
    """
    failed = []
    for outcome in backend(tasks):
        if outcome.elsewhere:
            leave(outcome.cell)
            continue
        report(outcome)
        if outcome.failure is not None:
            failed.append(outcome)
    return failed
