"""Workers that run experiments: this thread, other threads, or processes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from typing import Any, NamedTuple, Protocol

from bandit_envs.basics.arguments import is_count, require, require_choice

Experimenter = Callable[..., Any]
BACKENDS = ("processes", "threads")


class Report(NamedTuple):
    """Result of a call."""

    result: Any = None
    failure: str | None = None  # why there is no result


class Crew(Protocol):
    """Set of workers that run experiments concurrently."""

    def start(self, f: Experimenter, parameters: Mapping[str, Any]) -> Future[Report]:
        """Start an experiment; callers start no more of them than there are workers."""
        ...

    def stop(self) -> None:
        """Stop the workers without waiting."""
        ...


class Alone:
    """Worker that runs each experiment in the calling thread, without pickling; debuggers work in f."""

    def start(self, f: Experimenter, parameters: Mapping[str, Any]) -> Future[Report]:
        """Run the experiment."""
        future: Future[Report] = Future()
        future.set_result(report(f, parameters))
        return future

    def stop(self) -> None:
        """Do nothing: no experiment is running."""


class Threads:
    """Workers in threads of this process, for experiments that wait for a device. They cannot be stopped.

    Args:
        workers: number of concurrent experiments.
    """

    def __init__(self, workers: int):
        self._pool = ThreadPoolExecutor(workers)

    def start(self, f: Experimenter, parameters: Mapping[str, Any]) -> Future[Report]:
        """Start an experiment."""
        return self._pool.submit(report, f, parameters)

    def stop(self) -> None:
        """Cancel experiments that have not started."""
        self._pool.shutdown(wait=False, cancel_futures=True)


class Processes:
    """Workers in processes, one pool each, so that a process that dies fails its own experiment alone.

    They use joblib's loky, which unlike the standard library pickles functions of notebooks and lambdas, and
    starts processes that share no locks with this one. One pool of several processes would break as a whole
    when one dies, without naming it. Here a thread waits for each process.

    Args:
        workers: number of concurrent experiments.
    """

    def __init__(self, workers: int):
        from joblib.externals.loky import ProcessPoolExecutor

        self._make = partial(ProcessPoolExecutor, max_workers=1)
        self._pools = [self._make() for _ in range(workers)]
        self._free = list(range(workers))
        self._waiting = ThreadPoolExecutor(workers)

    def start(self, f: Experimenter, parameters: Mapping[str, Any]) -> Future[Report]:
        """Start an experiment."""
        return self._waiting.submit(self._run, f, dict(parameters))

    def stop(self) -> None:
        """Kill all processes."""
        self._waiting.shutdown(wait=False, cancel_futures=True)
        for pool in self._pools:
            pool.shutdown(wait=False, kill_workers=True)

    def _run(self, f: Experimenter, parameters: dict[str, Any]) -> Report:
        worker = self._free.pop()
        try:
            return self._pools[worker].submit(report, f, parameters).result()
        except BrokenProcessPool as error:
            self._pools[worker] = self._make()
            return Report(failure=f"its process died: {error}".partition("\n\n")[0])
        finally:
            self._free.append(worker)


def report(f: Experimenter, parameters: Mapping[str, Any]) -> Report:
    """Call f with the parameters by keyword, and return an exception as a failure."""
    try:
        return Report(f(**parameters))
    except Exception as error:
        return Report(failure=f"{type(error).__name__}: {error}")


def crew_of(workers: int, backend: str) -> Crew:
    """Return the workers; a single one is this thread."""
    require(is_count(workers), "workers", "a positive integer", workers)
    require_choice("backend", backend, BACKENDS)
    if workers == 1:
        return Alone()
    return Processes(workers) if backend == "processes" else Threads(workers)
