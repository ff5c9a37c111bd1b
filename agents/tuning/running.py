"""Runs of a tuner's experiments, which are asked for, run and reported."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from bandit_envs.basics.arguments import is_count, require
from bandit_envs.basics.files import check_path, held
from bandit_envs.basics.threads import check_workers

from ..saving.files import read
from .history import Experiment, TunerHistory, as_number, running_in
from .plan import takes
from .reports import Reports, check_reports
from .space import Values
from .workers import Executor, Experimenter, RunReport, executor_of, unbroken

FORM = "gpbandits tuner"  # of the file
SHARE = (
    "one process at a time runs the experiments of a file: wait for it, give this run a file of its own, or "
    "share an Optuna study on a database with gpbandits.optuna.GPBanditSampler"
)
REPORTED = ("value", "costs", "std", "spent", "parameters")
RETURNED = f"a number, (value, costs) or a dict of {', '.join(REPORTED)}"


def optimise(
    tuner: Any,
    f: Callable[..., Any],
    n: int,
    workers: int = 1,
    *,
    backend: str = "processes",
    context: Values | None = None,
    time: Callable[[], float] | None = None,
    file: str | os.PathLike[str] | None = None,
    price: float | None = None,
    target: float | None = None,
    callback: Callable[[Experiment], Any] | None = None,
    progress: bool | None = None,
) -> Experiment | None:
    """Run n experiments, pending ones first, and report their outcomes; return the `best`.

    An exception of f is a failure, which is stored with its text; so is an infinite or NaN value, cost or
    std, and the death of a process. A warning says so where all fail. Ctrl-C, or a kill where there is a
    `file`, loses only what was running: it stays pending, and the next call, or that of the loaded tuner,
    begins with it. Ctrl-C waits for threads, which nothing can stop; a second one does not. With several
    workers the questions depend on the order in which experiments finish, and two runs differ.

        >>> from agents import Linear, Tuner
        >>> tuner = Tuner({"x": Linear(-1, 1)}, goal="minimise")
        >>> best = tuner.optimise(lambda x: x**2, 10)

    Args:
        f: called with the parameters by keyword. It returns the value, (value, costs), or a dict of
            arguments of `tell`.
        n: how many; fewer are run once a `cost_budget` is spent.
        workers: how many run at a time. A single one is the calling thread itself.
        backend: of several workers. "processes" are for experiments that compute: f may be a lambda or
            from a notebook. "threads" are for those that wait for a device or a cluster.
        context: of all of them, where there are contexts.
        time: function that returns the time, where there is a `clock`.
        file: where the tuner is saved whenever an experiment starts or ends, by one process at a time,
            whose tuner continues the file's history.
        price: of an experiment, see `may_stop`; no further one is asked for once none is worth it.
        target: value that is good enough: no further experiment starts once `best` has reached it.
        callback: called with each experiment that has ended, after it was saved; the run ends when it
            returns True.
        progress: None shows a bar if the standard error stream is a terminal, unless the logger
            "gpbandits.tuner" is shown, which logs each experiment at the level INFO; True shows a bar on
            a terminal and a line an experiment elsewhere; False shows nothing, as suits a debugger in f.

    Raises:
        ValueError: f returns something else, another process runs the file, or the file holds experiments
            that the tuner lacks.
    """
    check_run(tuner, f, n, workers, context, time, file)
    check_reports(target, callback, progress)
    reports = Reports(tuner, n, target, callback, progress)
    Run(tuner, f, executor_of(workers, backend), reports, context, time, file, price).play(n, workers)
    return tuner.best


@dataclass
class Run:
    """Run of a tuner's experiments."""

    tuner: Any  # a `Tuner`, whose module imports this one
    f: Experimenter
    executor: Executor
    reports: Reports
    context: Values | None = None  # of the questions
    time: Callable[[], float] | None = None
    file: str | os.PathLike[str] | None = None  # where the tuner is saved, None for nowhere
    price: float | None = None  # of a further experiment; None for the tuner's rule, if any
    running: dict[Future[RunReport], int] = field(default_factory=dict)

    def play(self, n: int, workers: int) -> None:
        """Run n experiments, pending ones first; stop early once a budget of costs is spent."""
        with ExitStack() as stack:
            if self.file is not None:
                stack.enter_context(held(self.file, SHARE, self.tuner))
                require_continued(self.tuner, self.file)
            stack.enter_context(self.reports.shown())
            before, left = len(self.tuner._history.failures), n
            again = list(running_in(self.tuner._history.rounds, self.context or {}))[:n]
            try:
                while left > 0 and self._begin(again, min(left, workers) - len(self.running)):
                    wait(self.running, return_when=FIRST_COMPLETED)
                    over = self._tell_finished()
                    left -= len(over)
                    for ticket in over:
                        self.reports.ended(ticket)
            except KeyboardInterrupt:
                if self.executor.cannot_stop:
                    wait(self.running)
                raise
            finally:
                self._tell_finished()
                self.executor.stop()
            failed = self.tuner._history.failures[before:]
            if len(failed) == n:
                warnings.warn(f"all {n} experiments failed, the last with {failed[-1].reason}", stacklevel=3)

    def _begin(self, again: list[int], number: int) -> bool:
        """Start up to `number` experiments; return True if any is running."""
        if self.reports.enough():
            return bool(self.running)
        tickets, again[:] = again[:number], again[number:]
        fresh = number - len(tickets)
        spent = self.tuner.left is not None and self.tuner.left <= 0
        asks = self.price is not None or self.tuner.plan.stopping is not None
        if fresh > 0 and not spent and not (asks and self.tuner.may_stop(self.price)):
            when = None if self.time is None else self.time()
            tickets += [ticket for ticket, _ in self.tuner.ask(fresh, self.context, time=when)]
            self._save()
        pending = self.tuner.pending
        for ticket in tickets:
            self.executor.start(self.f, pending[ticket], partial(self._note, ticket))
        return bool(self.running)

    def _tell_finished(self) -> list[int]:
        """Report all experiments that have ended; return their tickets. Ctrl-C waits until it is done."""
        with unbroken():
            over = [call for call in self.running if call.done() and not call.cancelled()]
            tickets = sorted(self.running[call] for call in over)
            for call in sorted(over, key=self.running.__getitem__):
                self._tell(self.running.pop(call), call.result())
        return tickets

    def _note(self, ticket: int, call: Future[RunReport]) -> None:
        self.running[call] = ticket

    def _tell(self, ticket: int, finished: RunReport) -> None:
        failed = finished.failure is not None
        reported = {} if failed else outcome(finished.result)
        failure = finished.failure if failed else unfit(reported)
        if failure is not None:
            self.tuner.fail(ticket, failure, reported.get("spent"))
        else:
            self.tuner.tell(ticket, **reported)
        self._save()

    def _save(self) -> None:
        if self.file is not None:
            self.tuner.save(self.file)


def require_continued(tuner: Any, file: str | os.PathLike[str]) -> None:
    """Raise where the file holds experiments that the tuner lacks, which saving would lose."""
    if not os.path.exists(file) or not os.path.getsize(file):
        return
    known = TunerHistory.from_data(read(file, FORM)["rounds"])
    words = f"a file of this tuner; it holds {len(known.rounds)} experiments that saving would lose"
    go_on = "continue with Tuner.load(file), or give another file"
    require(tuner._history.continues(known), "file", f"{words}: {go_on}", file)


def check_run(tuner: Any, f: Any, n: Any, workers: int, context: Any, time: Any, file: Any) -> None:
    """Raise where a run cannot start."""
    if file is not None:
        check_path("file", file)
    require(is_count(n), "n", "a positive integer", n)
    check_workers(workers)
    limit = tuner.plan.max_pending
    fits = limit is None or workers <= limit
    require(fits, "workers", f"at most max_pending, which is {limit}", workers)
    known = context is None or isinstance(context, Mapping)
    require(known, "context", "None or a dict of name -> value", context)
    needed = "a function without arguments that returns the time, where the tuner has a clock"
    require(callable(time) if tuner.plan.clocked else time is None, "time", needed, time)
    names = tuner.plan.parameters.kinds
    require(callable(f), "f", "a function of the parameters", f)
    require(takes(f, names), "f", f"a function that takes {', '.join(names)} by keyword", f)


def outcome(result: Any) -> dict[str, Any]:
    """Return the result of f as arguments of `Tuner.tell`; its value may be infinite or NaN."""
    pair = isinstance(result, tuple) and len(result) == 2
    reported: dict[str, Any] = {"value": result[0], "costs": result[1]} if pair else {"value": result}
    if isinstance(result, Mapping):
        reported = dict(result)
    named = "value" in reported and set(reported) <= set(REPORTED)
    reported["value"] = as_number(reported["value"]) if named else None
    require(reported["value"] is not None, "what f returns", RETURNED, result)
    return reported


def unfit(reported: Mapping[str, Any]) -> str | None:
    """Return the reason why an outcome is a failure: its first number that is infinite or NaN."""
    costs = reported.get("costs")
    named = costs if isinstance(costs, Mapping) else {}
    numbers = {"value": reported["value"], **named, "std": reported.get("std")}
    for name, number in numbers.items():
        if isinstance(number, float) and not math.isfinite(number):
            return f"its {name} was {number}"
    return None
