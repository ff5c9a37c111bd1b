"""Runs of a tuner's experiments, which are asked for, run and reported."""

from __future__ import annotations

import logging
import math
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from typing import Any

from bandit_envs.basics.arguments import is_count, is_number, require
from bandit_envs.basics.files import check_path, held
from bandit_envs.basics.threads import check_workers

from ..saving.files import read
from .continuous import plain
from .history import Experiment, TunerHistory, as_number, running_in
from .pictures.bar import bar_of
from .plan import takes
from .scale import sign_of
from .space import Values, text_of
from .workers import Executor, Experimenter, RunReport, executor_of, unbroken

FORM = "gpbandits tuner"  # of the file
SHARE = (
    "one process at a time runs the experiments of a file: wait for it, give this run a file of its own, or "
    "share an Optuna study on a database with gpbandits.optuna.GPBanditSampler"
)
REPORTED = ("value", "costs", "std", "spent", "parameters")
RETURNED = f"a number, (value, costs) or a dict of {', '.join(REPORTED)}"
# "gpbandits.tuner", without a handler: who wants to see it configures logging.
LOG = logging.getLogger("gpbandits").getChild("tuner")


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
    require(target is None or is_number(plain(target)), "target", "None or a finite number", target)
    usable = callback is None or callable(callback)
    require(usable, "callback", "None or a function of an `agents.tuning.Experiment`", callback)
    require(progress is None or isinstance(progress, bool), "progress", "None, True or False", progress)
    executor = executor_of(workers, backend)
    Run(tuner, f, executor, n, context, time, file, price, target, callback, progress).play(workers)
    return tuner.best


@dataclass
class Run:
    """Run of a tuner's experiments, with its reports, and what ends it early."""

    tuner: Any  # a `Tuner`, whose module imports this one
    f: Experimenter
    executor: Executor
    n: int
    context: Values | None  # of the questions
    time: Callable[[], float] | None
    file: str | os.PathLike[str] | None  # where the tuner is saved, None for nowhere
    price: float | None  # of a further experiment; None for the tuner's rule, if any
    target: float | None
    callback: Callable[[Experiment], Any] | None
    progress: bool | None
    running: dict[Future[RunReport], int] = field(default_factory=dict)
    done: int = 0
    stopped: bool = False
    _failed: int = 0
    _bar: Any = None
    _writes: bool = False  # a line an experiment

    def play(self, workers: int) -> None:
        """Run n experiments, pending ones first; stop early once a budget of costs is spent."""
        with ExitStack() as stack:
            if self.file is not None:
                stack.enter_context(held(self.file, SHARE, self.tuner))
                require_continued(self.tuner, self.file)
            stack.enter_context(self._shown())
            before, left = len(self.tuner._history.failures), self.n
            again = list(running_in(self.tuner._history.rounds, self.context or {}))[:left]
            try:
                while left > 0 and self._begin(again, min(left, workers) - len(self.running)):
                    wait(self.running, return_when=FIRST_COMPLETED)
                    over = self._tell_finished()
                    left -= len(over)
                    for ticket in over:
                        self._report(ticket)
            except KeyboardInterrupt:
                if self.executor.cannot_stop:
                    wait(self.running)
                raise
            finally:
                self._tell_finished()
                self.executor.stop()
            failed = self.tuner._history.failures[before:]
            if len(failed) == self.n:
                words = f"all {self.n} experiments failed, the last with {failed[-1].reason}"
                warnings.warn(words, stacklevel=3)

    @contextmanager
    def _shown(self) -> Iterator[None]:
        """Log the beginning and the end of the block, and show in it how far the run is."""
        plan, on_terminal = self.tuner.plan, sys.stderr.isatty()
        LOG.info("%d experiments over %s, to %s", self.n, ", ".join(plan.parameters.kinds), plan.goal)
        wanted = self.progress
        if wanted is None:  # lines of a log would be written into a bar, and say more
            wanted = on_terminal and not LOG.isEnabledFor(logging.INFO)
        self._bar = bar_of(self.n) if wanted and on_terminal and find_spec("rich") else None
        self._writes = wanted and self._bar is None
        with nullcontext() if self._bar is None else self._bar:
            yield
        LOG.info("%d of %d experiments were run%s", self.done, self.n, self._record())

    def _report(self, ticket: int) -> None:
        self.done += 1
        if not (self._bar or self._writes or self.callback or LOG.isEnabledFor(logging.INFO)):
            return
        each = next(each for each in self.tuner.experiments if each.ticket == ticket)
        found = each.reason if each.value is None else f"{each.value:.6g}"
        line = f"{self.done}/{self.n}: {each.state} {found} at {text_of(each.parameters)}{self._record()}"
        LOG.info("%s", line)
        if self._writes:
            print(line, file=sys.stderr, flush=True)
        self._failed += each.state == "failed"
        if self._bar is not None:
            lost = f", {self._failed} failed" if self._failed else ""
            self._bar.update(0, advance=1, description=f"{self._record()[2:] or 'no value'}{lost}")
        if self.callback is not None and self.callback(each) is True:
            self.stopped = True

    def _record(self) -> str:
        best = self.tuner.best_value
        return "" if best is None else f", best {best:.6g}"

    def _begin(self, again: list[int], number: int) -> bool:
        """Start up to `number` experiments; return True if any is running."""
        best, sign = self.tuner.best, sign_of(self.tuner.plan.goal)
        reached = self.target is not None and best is not None and sign * best.value >= sign * self.target
        if self.stopped or reached:
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
