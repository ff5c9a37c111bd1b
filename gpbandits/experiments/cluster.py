"""This backend computes cells on a Dask cluster."""

import asyncio
import os
import threading
import time
import uuid
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from typing import Any

from bandit_envs.basics.arguments import from_extra
from gpbandits.experiments.backends import Backend
from gpbandits.experiments.locks import is_locked
from gpbandits.experiments.work import CellTask, Outcome, failed, make_expendable, settle

ANSWER = 10.0  # seconds within which a scheduler must answer
GATHERING = 5.0  # seconds without workers until a warning
GATHERED = 60.0  # further seconds without workers until an error: a restarted worker takes a while
IMPORTED = 60.0  # seconds within which a worker must answer, which imports this module first
_PAUSE = 0.05  # seconds between checks for outcomes
_LOOK = 2.0  # seconds between checks of the workers
SILENCE = 30.0  # seconds without a heartbeat, beyond a cell's time limit, after which a worker is stuck
_TWICE = 2  # workers that one cell may stop
_TOKEN = uuid.uuid4().hex  # of this process, or of the one that it was forked from
_SHARED = (
    "workers of {} must be processes of their own, since agents may use global generators, got some that are "
    "threads of one process; start them with `dask worker --nthreads 1`, or LocalCluster(processes=True)"
)
_LOST = (
    "the Dask scheduler at {} is lost; start it and its workers and run the same command again: it goes on "
    "from the cells that are stored"
)
playing = threading.Lock()  # one cell at a time in a process


def dask(scheduler: str) -> Backend:
    """Return a backend of Dask workers, which share the folders; others take over a lost one's cells.

    `scheduler` is an address such as "tcp://10.0.0.1:8786". A worker without a heartbeat for longer than a
    cell's time limit is restarted. A cell fails if it stops two workers in this way, or if its workers die
    more often than the cluster's `allowed-failures`.
    """

    def compute_all(tasks: Sequence[CellTask]) -> Iterator[Outcome]:
        with _client(scheduler) as client:
            try:
                yield from _Cells(client, tasks).outcomes()
            except CancelledError as error:
                raise ConnectionError(_LOST.format(scheduler)) from error

    return compute_all


class _Cells:
    """The cells of a run on a cluster, whose workers are restarted if they are stuck."""

    def __init__(self, client: Any, tasks: Sequence[CellTask]):
        self._client = client
        self._futures = {each.key: each for each in client.map(settle_there, tasks, pure=False)}
        self._tasks = dict(zip(self._futures, tasks, strict=True))
        self._longest = max((task.longest for task in tasks), default=0.0) + SILENCE
        self._stopped: Counter[str] = Counter()  # number of workers stuck in each cell
        self._next_look = time.monotonic() + _LOOK

    def outcomes(self) -> Iterator[Outcome]:
        """Yield outcomes as they finish."""
        from distributed import as_completed

        finished: Any = as_completed(list(self._futures.values()), loop=self._client.loop)
        while not finished.is_empty():
            if finished.has_ready():
                yield self._outcome(next(finished))
            else:
                time.sleep(_PAUSE)
            if time.monotonic() > self._next_look:
                self._restart_standing()
                self._next_look = time.monotonic() + _LOOK

    def _outcome(self, future: Any) -> Outcome:
        from distributed import KilledWorker

        task = self._tasks[future.key]
        if self._stopped[future.key] >= _TWICE:
            return failed(task, f"{_TWICE} workers stood still for {self._longest:g} s while computing it")
        try:
            return future.result(timeout=GATHERED)
        except KilledWorker as error:
            return failed(task, str(error))
        except OSError as error:  # no answer in time, or the connection is lost
            if future.status == "error":
                raise  # the worker's own error
            raise CancelledError from error

    def _restart_standing(self) -> None:
        """Restart workers that are stuck, and give up cells that have stopped two."""
        try:
            silent = self._client.run_on_scheduler(silent_workers, self._longest, callback_timeout=GATHERED)
        except OSError as error:  # no answer in time, or the connection is lost
            raise CancelledError from error
        standing = {address: keys & self._tasks.keys() for address, keys in silent.items()}
        for keys in filter(None, standing.values()):
            paths = {key: self._tasks[key].path for key in keys}  # locked where computed, else queued
            begun = [key for key, path in paths.items() if is_locked(path.parent, path.stem)] or keys
            self._stopped.update(begun)
            given_up = [self._futures[key] for key in begun if self._stopped[key] >= _TWICE]
            self._client.cancel(given_up, force=True)
        _restart(self._client, [address for address, keys in standing.items() if keys])


def silent_workers(longest: float, dask_scheduler: Any) -> dict[str, set[str]]:
    """Return the keys of the tasks of each worker without a heartbeat for so long; runs on the scheduler."""
    from distributed.metrics import time as now

    return {
        address: {task.key for task in worker.processing}
        for address, worker in dask_scheduler.workers.items()
        if now() - worker.last_seen > longest
    }


def _restart(client: Any, workers: list[str]) -> None:
    """Have workers restarted by their nannies; workers without a nanny are only given up."""
    if workers:
        text = f"workers that stand still are restarted: {', '.join(sorted(workers))}"
        warnings.warn(text, stacklevel=2)
        client.run_on_scheduler(_restart_there, workers)


async def _restart_there(workers: list[str], dask_scheduler: Any) -> None:
    # called on the scheduler, since the client's `restart_workers` refuses workers without nannies
    options = {"wait_for_workers": False, "on_error": "return", "stimulus_id": "gpbandits-stood-still"}
    await dask_scheduler.restart_workers(workers, **options)


@contextmanager
def _client(scheduler: str) -> Iterator[Any]:
    with from_extra("cluster", "clusters"):
        from distributed import Client
    client: Any = Client.__new__(Client)
    try:
        client.__init__(scheduler, timeout=ANSWER, set_as_default=False)
    except (OSError, ValueError) as error:
        with suppress(Exception):  # else the garbage collector closes it, perhaps while another starts,
            client.close(timeout=ANSWER)  # and waits for that client's lock for ever
        raise ValueError(
            f"scheduler must be the address of a Dask scheduler that answers, such as tcp://10.0.0.1:8786, "
            f"got {scheduler!r}: {error}"
        ) from error
    with client:
        _check_workers(client, scheduler)
        yield client


def _check_workers(client: Any, scheduler: str) -> None:
    """Raise unless there are workers, each with a process of its own and one thread."""
    remedy = f"start some with `dask worker {scheduler} --nthreads 1`"
    try:
        client.wait_for_workers(1, timeout=GATHERING)
    except TimeoutError:
        warnings.warn(f"{scheduler} has no workers yet: {remedy}", stacklevel=2)
    try:
        client.wait_for_workers(1, timeout=GATHERED)
    except TimeoutError as error:
        given = f"{scheduler} with none in {GATHERING + GATHERED:g} s"
        raise ValueError(f"scheduler must have workers, got {given}; {remedy}, then run again") from error
    threads = client.nthreads()
    if any(count > 1 for count in threads.values()):
        raise ValueError(
            f"workers of {scheduler} must have one thread each, since agents may use global generators, "
            f"got {max(threads.values())}; start them with `dask worker --nthreads 1`"
        )
    answers = client.sync(_ask, client, list(threads))
    processes = [_this_process(), *answers.values()]
    if len(set(processes)) < len(processes):
        raise ValueError(_SHARED.format(scheduler))
    _restart(client, [address for address in threads if address not in answers])


async def _ask(client: Any, workers: list[str]) -> dict[str, tuple[str, int]]:
    """Ask each worker for its process; those that do not answer in time are left out."""
    asking = [
        asyncio.ensure_future(client.run(_this_process, workers=[address], asynchronous=True))
        for address in workers
    ]
    answered, silent = await asyncio.wait(asking, timeout=IMPORTED)
    for each in silent:
        each.cancel()
    return {address: process for each in answered for address, process in each.result().items()}


def _this_process() -> tuple[str, int]:
    """Identify this process by a token and its id, since containers may share host names and ids."""
    return _TOKEN, os.getpid()


def settle_there(task: CellTask) -> Outcome:
    """Settle a cell in a process that computes no other; runs on a worker."""
    if not playing.acquire(blocking=False):  # a worker that joined after the check
        raise ValueError(_SHARED.format("the cluster"))
    try:
        make_expendable()
        return settle(task)
    finally:
        playing.release()
