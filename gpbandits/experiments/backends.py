"""Where cells are computed: processes of this machine, or the workers of a Dask cluster."""

import os
import sys
import threading
import time
import uuid
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from typing import Any

from joblib import Parallel, cpu_count, delayed

from bandit_envs.basics.extras import from_extra
from gpbandits.experiments.limits import make_expendable
from gpbandits.experiments.work import Outcome, Task, failed, settle

Backend = Callable[[Sequence[Task]], Iterator[Outcome]]  # yields outcomes as they come, in any order
_PATIENCE = 0.5  # seconds between looks at the parent
_ANSWER = 10.0  # seconds within which a scheduler answers
_GATHERING = 5.0  # seconds until it is said that there is no worker yet
_GATHERED = 60.0  # seconds more until that is an error: workers that died take a while to come back
_TOKEN = uuid.uuid4().hex  # of this process, or of the one that it was forked from
_SHARED = (
    "workers of {} must be processes of their own, since agents may use global generators, got some that are "
    "threads of one process; start them with `dask worker --nthreads 1`, or LocalCluster(processes=True)"
)
_playing = threading.Lock()  # one cell at a time in a process
_DIED = (
    "the process that computed it died, alone as well as beside others; perhaps for want of memory, or at a "
    "time limit that compiled code ran over"
)


def local(workers: int | None = None) -> Backend:
    """Processes of this machine; with one worker, the calling one.

    A process that dies, for want of memory for instance, takes the others of its pool with it. What they had
    begun is computed again, each cell alone: one that kills its process then as well has failed.

    Args:
        workers: how many; by default one a core.
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
                for i in list(left)[:processes]:  # they are begun in order
                    yield _alone(i, left.pop(i), processes)

    return compute_all


def _in_processes(tasks: dict[int, Task], processes: int) -> Iterator[tuple[int, Outcome]]:
    # loky replaces a worker whose memory has grown, after its cell; nothing is lost and nothing to be done
    warnings.filterwarnings("ignore", "A worker stopped while some jobs were given", UserWarning)
    begun = {"initializer": _begin, "initargs": (os.getpid(), tuple(sys.path))}  # else old workers are taken
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


def dask(scheduler: str) -> Backend:
    """The workers of a Dask cluster, which see the same folders; the cells of a lost worker go to others.

    A cell whose workers die again and again, as often as the cluster's `allowed-failures` says, has failed.

    Args:
        scheduler: its address, such as "tcp://10.0.0.1:8786".
    """

    def compute_all(tasks: Sequence[Task]) -> Iterator[Outcome]:
        with _client(scheduler) as client:
            from distributed import KilledWorker, as_completed

            futures = client.map(_settle_there, tasks, pure=False)
            named = {future.key: task for future, task in zip(futures, tasks, strict=True)}
            finished: Any = as_completed(futures, loop=client.loop)
            for future in finished:
                try:
                    yield future.result()
                except KilledWorker as error:
                    yield failed(named[future.key], str(error))
                except CancelledError as error:
                    reason = f"the Dask scheduler at {scheduler} is lost; run again, what is computed is kept"
                    raise ConnectionError(reason) from error

    return compute_all


@contextmanager
def _client(scheduler: str) -> Iterator[Any]:
    with from_extra("cluster", "clusters"):
        from distributed import Client
    client: Any = Client.__new__(Client)
    try:
        client.__init__(scheduler, timeout=_ANSWER, set_as_default=False)
    except (OSError, ValueError) as error:
        with suppress(Exception):  # now: later the garbage collector does it, perhaps while another starts,
            client.close(timeout=_ANSWER)  # whose lock it then waits for, for ever
        raise ValueError(
            f"scheduler must be the address of a Dask scheduler that answers, such as tcp://10.0.0.1:8786, "
            f"got {scheduler!r}: {error}"
        ) from error
    with client:
        _check_workers(client, scheduler)
        yield client


def _check_workers(client: Any, scheduler: str) -> None:
    """Raise unless there are workers, each of which has a process and a thread of its own."""
    _wait_for_workers(client, scheduler)
    threads = client.nthreads()
    if any(count > 1 for count in threads.values()):
        raise ValueError(
            f"workers of {scheduler} must have one thread each, since agents may use global generators, "
            f"got {max(threads.values())}; start them with `dask worker --nthreads 1`"
        )
    processes = [_this_process(), *client.run(_this_process).values()]
    if len(set(processes)) < len(processes):
        raise ValueError(_SHARED.format(scheduler))


def _wait_for_workers(client: Any, scheduler: str) -> None:
    """Say after a few seconds that there are no workers, and give up when none has come for long."""
    remedy = f"start some with `dask worker {scheduler} --nthreads 1`"
    with suppress(TimeoutError):
        client.wait_for_workers(1, timeout=_GATHERING)
        return
    warnings.warn(f"{scheduler} has no workers yet: {remedy}", stacklevel=2)
    try:
        client.wait_for_workers(1, timeout=_GATHERED)
    except TimeoutError as error:
        given = f"{scheduler} with none in {_GATHERING + _GATHERED:g} s"
        raise ValueError(f"scheduler must have workers, got {given}; {remedy}, then run again") from error


def _this_process() -> tuple[str, int]:
    """A name of this process that no other has: a token, since containers may share hosts' names and ids."""
    return _TOKEN, os.getpid()


def _settle_there(task: Task) -> Outcome:
    if not _playing.acquire(blocking=False):  # a worker that came after the run began
        raise ValueError(_SHARED.format("the cluster"))
    try:
        make_expendable()
        return settle(task)
    finally:
        _playing.release()


def _settle_as(i: int, task: Task) -> tuple[int, Outcome]:
    return i, settle(task)


def _begin(parent: int, path: tuple[str, ...]) -> None:
    """Find the modules that the parent finds, and end soon after it, whose death nobody else would tell."""
    sys.path[:] = path
    make_expendable()
    threading.Thread(target=_watch, args=(parent,), name="parent", daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_PATIENCE)
    os._exit(1)
