"""Backends compute cells; this one does in processes of this machine."""

import os
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from joblib import Parallel, cpu_count, delayed

from gpbandits.experiments.limits import make_expendable
from gpbandits.experiments.work import Outcome, Task, failed, settle

Backend = Callable[[Sequence[Task]], Iterator[Outcome]]  # yields outcomes as they finish, in any order
_PATIENCE = 0.5  # seconds between checks that the parent is alive
_DIED = (
    "the process that computed it died, alone as well as beside others; perhaps it lacked memory, or "
    "compiled code exceeded the time limit"
)


def local(workers: int | None = None) -> Backend:
    """Return a backend of processes of this machine; with one worker it is the calling process.

    A process that dies, for lack of memory for instance, ends the others of its pool. The cells they had
    begun are computed again one by one; a cell whose process dies again has failed.

    Args:
        workers: number of processes; by default one a core.
    """

    def compute_all(tasks: Sequence[Task]) -> Iterator[Outcome]:
        processes = min(workers or cpu_count(), max(len(tasks), 1))
        left = dict(enumerate(tasks))
        while left:
            try:
                for i, outcome in _in_processes(left, processes):
                    del left[i]
                    yield outcome
            except BrokenProcessPool:
                for i in list(left)[:processes]:  # cells begin in order
                    yield _alone(i, left.pop(i), processes)

    return compute_all


def _in_processes(tasks: dict[int, Task], processes: int) -> Iterator[tuple[int, Outcome]]:
    # loky replaces a worker whose memory has grown, after its cell; nothing is lost, so the warning is noise
    warnings.filterwarnings("ignore", "A worker stopped while some jobs were given", UserWarning)
    # loky reuses old workers unless the initializer differs
    begun = {"initializer": _begin, "initargs": (os.getpid(), tuple(sys.path))}
    options: dict[str, Any] = {"batch_size": 1, "return_as": "generator_unordered", **begun}
    pool = Parallel(processes, "loky", **options)
    outcomes: Any = pool([delayed(_settle_as)(i, task) for i, task in tasks.items()])
    yield from outcomes


def _alone(i: int, task: Task, processes: int) -> Outcome:
    try:
        ((_, outcome),) = _in_processes({i: task}, processes)
    except BrokenProcessPool:
        return failed(task, _DIED)
    return outcome


def _settle_as(i: int, task: Task) -> tuple[int, Outcome]:
    return i, settle(task)


def _begin(parent: int, path: tuple[str, ...]) -> None:
    """Set the parent's module path, and end this process soon after the parent, which sends no signal."""
    sys.path[:] = path
    make_expendable()
    threading.Thread(target=_watch, args=(parent,), name="parent", daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_PATIENCE)
    os._exit(1)
