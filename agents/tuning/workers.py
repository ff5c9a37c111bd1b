"""Who runs experiments: threads or processes, one call at a time, and the capacity for more."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial, wraps
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar

from bandit_envs.basics.arguments import is_count, require, require_choice
from bandit_envs.basics.threads import end_with, require_workers

from .history import TunerHistory
from .plan import TunerPlan

P = ParamSpec("P")
R = TypeVar("R")


class UnsharedLock:
    """Reentrant lock that copies and files do not share."""

    def __init__(self):
        self.lock = threading.RLock()

    def __reduce__(self) -> tuple[type[UnsharedLock], tuple[()]]:
        return UnsharedLock, ()


def locked(method: Callable[Concatenate[Any, P], R]) -> Callable[Concatenate[Any, P], R]:
    """Return the method with the lock held, so that other threads wait for its end."""

    @wraps(method)
    def waiting(self: Any, *args: P.args, **kwargs: P.kwargs) -> R:
        with self._lock.lock:
            return method(self, *args, **kwargs)

    return waiting


@contextmanager
def unbroken() -> Iterator[None]:
    """Hold back Ctrl-C within the block, of the main thread; it is raised at its end."""
    here = threading.current_thread() is threading.main_thread()  # others never receive it
    if not here or signal.getsignal(signal.SIGINT) is None:  # nor can a handler that is not Python's be kept
        yield
        return
    held: list[Any] = []
    before = signal.signal(signal.SIGINT, lambda *given: held.append(given))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if held and callable(before):
            before(*held[0])


MOST_AT_ONCE = 10_000  # questions in a call, each chosen given those before


def require_capacity(plan: TunerPlan, history: TunerHistory, left: float | None, number: int) -> None:
    """Raise unless so many experiments may start; `left` is the remaining budget of costs."""
    require(number <= MOST_AT_ONCE, "n", f"at most {MOST_AT_ONCE} experiments in a call", number)
    if left is not None and left <= 0:
        raise RuntimeError(f"the cost_budget of {plan.cost_budget:g} is spent; see `recommend`")
    limit, pending = plan.max_pending, history.pending
    if limit is None or len(pending) + number <= limit:
        return
    if number > limit:
        raise RuntimeError(f"n is {number}, and max_pending is {limit}; ask for fewer at a time")
    tickets = ", ".join(map(str, pending))
    more = "" if number == 1 else f", {number} more are asked for"
    raise RuntimeError(
        f"{len(pending)} experiments are pending{more}, and max_pending is {limit}; tell or drop one of the "
        f"tickets {tickets} first"
    )


Experimenter = Callable[..., Any]
BACKENDS = ("processes", "threads")


class RunReport(NamedTuple):
    """Result of a call."""

    result: Any = None
    failure: str | None = None  # why there is no result


Begun = Callable[[Future[RunReport]], Any]  # called with an experiment that is under way


class SerialExecutor:
    """Worker that runs each experiment in the calling thread, without pickling; debuggers work in f."""

    cannot_stop = False

    def start(self, f: Experimenter, parameters: Mapping[str, Any], begun: Begun) -> None:
        """Run an experiment to its end."""
        future: Future[RunReport] = Future()
        begun(future)
        future.set_result(report(f, parameters))

    def stop(self) -> None:
        """Do nothing: no experiment is running."""


class Workers:
    """Workers in threads of this process, each of which may wait for a process of its own.

    Threads alone are for experiments that wait for a device; they cannot be stopped. `run` runs an experiment
    in a thread, and `kill` ends what it has started.
    """

    def __init__(self, workers: int, run: Callable[..., RunReport], kill: Callable[[], Any] | None = None):
        self._pool, self._run, self._kill = ThreadPoolExecutor(workers), run, kill
        self.cannot_stop = kill is None

    def start(self, f: Experimenter, parameters: Mapping[str, Any], begun: Begun) -> None:
        """Start an experiment."""
        with unbroken():  # between the start and its record Ctrl-C would lose a value
            begun(self._pool.submit(self._run, f, dict(parameters)))

    def stop(self) -> None:
        """Cancel experiments that have not started, and kill all processes."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        if self._kill is not None:
            self._kill()


class Processes:
    """Processes, one pool each, so that a process that dies fails its own experiment alone.

    They use joblib's loky, which unlike the standard library pickles functions of notebooks and lambdas, and
    starts processes that share no locks with this one. One pool of several processes would break as a whole
    when one dies, without naming it.
    """

    def __init__(self, workers: int):
        from joblib.externals.loky import ProcessPoolExecutor

        begun = {"initializer": end_with, "initargs": (os.getpid(),)}
        self._make = partial(ProcessPoolExecutor, max_workers=1, **begun)
        self._pools = [self._make() for _ in range(workers)]
        self._free = list(range(workers))

    def run(self, f: Experimenter, parameters: dict[str, Any]) -> RunReport:
        """Run an experiment in a free process, and wait for its end."""
        worker = self._free.pop()
        try:
            return self._pools[worker].submit(report, f, parameters).result()
        except BrokenProcessPool as error:
            self._pools[worker] = self._make()
            return RunReport(failure=f"its process died: {error}".partition("\n\n")[0])
        finally:
            self._free.append(worker)

    def kill(self) -> None:
        """Kill all processes."""
        for pool in self._pools:
            pool.shutdown(wait=False, kill_workers=True)


def report(f: Experimenter, parameters: Mapping[str, Any]) -> RunReport:
    """Call f with the parameters by keyword, and return an exception as a failure."""
    try:
        return RunReport(f(**parameters))
    except Exception as error:
        return RunReport(failure=f"{type(error).__name__}: {error}")


Executor = SerialExecutor | Workers  # they run no more experiments at a time than there are workers


def executor_of(workers: int, backend: str) -> Executor:
    """Return the workers; a single one is this thread."""
    require(is_count(workers), "workers", "a positive integer", workers)
    require_choice("backend", backend, BACKENDS)
    if workers == 1:
        return SerialExecutor()
    threads = backend == "threads"
    require_workers('backend="threads"' if threads else f"{workers=}", "leave workers at 1")
    if threads:
        return Workers(workers, report)
    processes = Processes(workers)
    return Workers(workers, processes.run, processes.kill)
