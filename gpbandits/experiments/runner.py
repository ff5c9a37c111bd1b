"""Computing the cells that a store does not hold yet."""

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
    """Compute the cells that are missing or unfit, and return those that failed, which stop no others.

    Args:
        study: whose cells are computed.
        store: keeps each cell as soon as it is computed, so that a run can be interrupted and resumed.
        workers: number of processes on this machine; by default one a core.
        report: called in this process after each cell.
        backend: where the cells are computed instead, such as `cluster.dask("tcp://10.0.0.1:8786")`.
        time_limit: seconds after which a cell has failed, or the wait for another run's ends. One that no
            signal interrupts, as in compiled code, ends with the process that computes it, unless that is
            this one.
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
        _say(waiting)
        return failed + _computed(backend, waiting, report, left.append)


def _say(waiting: Sequence[Task]) -> None:
    """Warn of the wait for cells that other runs are computing."""
    if waiting:
        whom = sorted({holder(task.path.parent, task.path.stem) for task in waiting})
        text = f"waiting for {', '.join(whom)} of another run, computing {len(waiting)} cells of this one"
        warnings.warn(text, stacklevel=3)


def _computed(
    backend: Backend, tasks: Sequence[Task], report: Report, leave: Callable[[Cell], None]
) -> list[Outcome]:
    """Return the outcomes that failed, and leave cells that another run is computing for the end.

    Two runs at once so share the work; waiting for each other's cells, they would go on in step.
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
