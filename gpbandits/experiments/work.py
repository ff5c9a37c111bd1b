"""Computing one cell, in whatever process: time limits, shared environments, and whether a study can run."""

import errno
import json
import math
import os
import platform
import signal
import threading
import time
import traceback
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np

from agents.registry import resolve_agent
from bandit_envs.basics.arguments import require
from bandit_envs.basics.files import write_whole
from bandit_envs.basics.threads import one_thread
from bandit_envs.basics.types import Floats
from gpbandits.evaluation import evaluate, trial_seeds
from gpbandits.evaluation.columns import require_columns
from gpbandits.evaluation.isolation import cut
from gpbandits.evaluation.parquet import write
from gpbandits.evaluation.play import Stage
from gpbandits.evaluation.process_state import limits_now, restore_limits
from gpbandits.evaluation.provenance import environment_spec
from gpbandits.evaluation.result import Result
from gpbandits.experiments.cells import sound
from gpbandits.experiments.locks import holder, locked
from gpbandits.experiments.store import failure_beside
from gpbandits.experiments.study import OF_CODE, Cell, Study

GRACE = 5.0  # seconds beyond the limit for compiled code, which signals do not interrupt
_AGAIN = 0.5  # seconds until code that caught the first interrupt is interrupted again
_expendable = threading.Event()
LONGEST, LONGEST_LINE = 20_000, 500  # characters of a traceback, and of what a list of failures shows
MOST_BYTES = 2**30  # of the environments kept while another is made
kept_stages: OrderedDict[str, Stage] = OrderedDict()  # least recently used first


class OverdueError(BaseException):
    """A time limit has passed; not an Exception, so that `except Exception` does not catch it."""


def make_expendable() -> None:
    """Allow this process to be ended with a cell that hangs: the pool starts another in its place."""
    _expendable.set()


@contextmanager
def within(seconds: float | None, what: str = "the cell") -> Iterator[None]:
    """Raise OverdueError with this subject in the block after so many seconds; None sets no limit.

    Where the block cannot be interrupted (compiled code, a thread other than the main one, Windows), an
    expendable process ends GRACE seconds later; any other process continues.
    """
    if seconds is None:
        yield
        return

    def stop(*_signal: object) -> None:
        raise OverdueError(f"{what} took longer than its time limit of {seconds:g} s")

    timer = threading.Timer(seconds + GRACE, os._exit, [1])
    timer.daemon = True
    if _expendable.is_set():
        timer.start()
    signals = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGALRM, stop) if signals else None
    try:
        if signals:
            signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN)
        yield
    finally:
        if signals:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            signal.signal(signal.SIGALRM, before)
        timer.cancel()


def stage_of(cell: Cell) -> Stage:
    """Return the environment of a cell, made by an earlier cell or now: once in a process.

    Results do not depend on this, since each trial is drawn from its own seed.
    """
    kwargs, files = cell.environment.kwargs, cell.code["files"]
    key = json.dumps([cell.environment.id, kwargs, files], sort_keys=True, default=repr)
    if key not in kept_stages:
        while kept_stages and sum(nbytes(stage, set()) for stage in kept_stages.values()) > MOST_BYTES:
            kept_stages.popitem(last=False)
        kept_stages[key] = Stage(cell.environment.id, kwargs)
    kept_stages.move_to_end(key)
    return kept_stages[key]


def nbytes(thing: Any, seen: set[int]) -> int:
    """Return the bytes of all arrays reachable through attributes and collections, each counted once."""
    if id(thing) in seen:
        return 0
    seen.add(id(thing))
    if isinstance(thing, np.ndarray):
        owner = thing if thing.base is None else thing.base
        return thing.nbytes if owner is thing else nbytes(owner, seen)
    named = thing if isinstance(thing, dict) else getattr(thing, "__dict__", {})
    inside = thing if isinstance(thing, list | tuple) else list(named.values())
    return sum(nbytes(each, seen) for each in inside)


class CellTask(NamedTuple):
    """A task is a cell, the path of its file, and the metadata stored in it.

    It is fixed before the run: an edit of the code meanwhile must not rename what the old code computes.
    """

    cell: Cell
    path: Path
    metadata: dict[str, Any]
    wait: bool = False  # wait for another run that is computing the cell, rather than skip it
    time_limit: float | None = None  # seconds, for the wait and for the work
    marks: Path | None = None  # folder in which the worker says that it computes the cell, see `backends`

    @property
    def longest(self) -> float:
        """Return the seconds after which a working process has finished the task."""
        return math.inf if self.time_limit is None else (1 + self.wait) * self.time_limit + GRACE


class Outcome(NamedTuple):
    """An outcome is a cell's final regret, its failure, or that another run is computing it."""

    cell: Cell
    failure: str | None = None  # the traceback, if it raised
    regret: Floats | None = None  # (trials,) at the horizon, else None; budget regret where there is a budget
    elsewhere: bool = False  # another run is computing it

    @property
    def reason(self) -> str:
        """Return the beginning of the first line below the last frame of the traceback."""
        lines = (self.failure or "").strip().splitlines() or [""]
        below = 1 + max((i for i, line in enumerate(lines) if line.startswith("  ")), default=-1)
        return lines[min(below, len(lines) - 1)][:LONGEST_LINE]


def settle(task: CellTask) -> Outcome:
    """Compute a cell and store its numbers or its traceback, unless another process has stored it meanwhile.

    Raises:
        OSError: the folder or the disk fails, as it would for every other cell; the error names the file.
        ValueError: this process runs other code than the one that made the task.
    """
    _check_code(task)
    if not task.path.parent.is_dir():
        gone = "the folder of the cells is missing, or not shared with this worker; restore it and run again"
        raise FileNotFoundError(errno.ENOENT, gone, str(task.path.parent))
    with locked(task.path.parent, task.path.stem, task.wait, task.time_limit) as held:
        if not held and not task.wait:
            return Outcome(task.cell, elsewhere=True)
        if not held:  # another run may still finish it: no failure is stored
            whom = f"{holder(task.path.parent, task.path.stem)} of another run, which is computing the cell"
            return Outcome(
                task.cell, f"waited for {whom}, longer than the time limit of {task.time_limit:g} s"
            )
        if (kept := sound(task.path)) is not None:
            return _done(task, kept)
        begun = time.perf_counter()
        try:
            with _watched(task), within(task.time_limit), one_thread():
                result = compute(task.cell)
        except BaseException as error:  # the other cells continue, and the caller reports it
            if isinstance(error, KeyboardInterrupt) and not _expendable.is_set():
                raise  # Ctrl-C, which ends the run; workers ignore it, so there it is the agent's
            return failed(task, traceback.format_exc())
        _keep(task, result, time.perf_counter() - begun)
        return _done(task, result)


@contextmanager
def _watched(task: CellTask) -> Iterator[None]:
    """Mark that this process computes the cell, for those who watch it, and put back the system's limits.

    A worker that cannot put them back ends: it might not even write why.
    """
    mark = None if task.marks is None else task.marks / f"{os.getpid()}-{task.path.stem}"
    before = limits_now()
    if mark is not None:
        mark.touch()
    try:
        yield
    finally:
        if not restore_limits(before) and _expendable.is_set():
            os._exit(1)
        if mark is not None:
            mark.unlink(missing_ok=True)


def compute(cell: Cell) -> Result:
    """Run one cell; its numbers equal those of the same trials in one `evaluate` of the whole study."""
    try:
        return evaluate(
            stage_of(cell),
            {cell.agent.name: (cell.agent.name, cell.agent.options)},
            trials=cell.trials,
            seed=cell.seed,
            first_trial=cell.first_trial,
            checkpoints=cell.checkpoints.of_run,
        )
    except BaseException:
        kept_stages.clear()  # a time limit may leave one half made, or one may be too large
        raise


def _keep(task: CellTask, result: Result, seconds: float) -> None:
    trials = range(result.first_trial, result.first_trial + result.num_trials)
    seeds = [trial_seeds(result.seed, trial) for trial in trials]
    timings = {"seconds": seconds, "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
    with _writing(task.path):
        if task.path.exists() and not task.path.is_file():
            task.path.unlink()  # a pipe, which `write` would refuse to replace
        # not `save`, which lists the folder of all cells for what killed writers of this file have left
        write(result, task.path, task.metadata | {"seeds": seeds, "timings": timings})
        failure_beside(task.path).unlink(missing_ok=True)


def failed(task: CellTask, failure: str) -> Outcome:
    """Store the reason why a cell could not be computed."""
    path = failure_beside(task.path)
    text = cut(failure, LONGEST).encode(errors="backslashreplace").decode()  # may hold lone surrogates
    with _writing(path):
        write_whole(path, f"{task.cell}\n\n{text}".encode())
    return Outcome(task.cell, failure=text)


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Add a remedy to an error of the disk, which ends the run."""
    try:
        yield
    except OSError as error:
        reason = f"{error.strerror or error}; fix this and run again, what is computed is kept"
        raise OSError(error.errno, reason, str(path)) from error


def _check_code(task: CellTask) -> None:
    """Raise unless this process has the code that is part of the cell's name: a cluster's may differ."""
    settled, here = task.metadata["configuration"], task.cell.configuration
    other = [
        f"{name} of {key}: {here[name].get(key)} rather than {settled[name].get(key)}"
        for name in OF_CODE
        for key in sorted(settled[name].keys() | here[name].keys())
        if here[name].get(key) != settled[name].get(key)
    ]
    if other:
        raise ValueError(
            f"workers must have the code and the files that the run began with, but process {os.getpid()} on "
            f"{platform.node()} has {'; '.join(other)}; install the same there, or run again after an edit"
        )


def _done(task: CellTask, result: Result) -> Outcome:
    (curve,) = result.main.values()
    return Outcome(task.cell, regret=curve[:, -1])


def check_study(study: Study, time_limit: float | None = None) -> None:
    """Make every environment and every agent for it once, within a limit each; an error names its entry."""
    if study.columns:
        require_columns(study.columns)
    for environment in study.environments:
        with naming(f"environment {environment.label!r}", time_limit):
            environment_spec(environment.id)
            env = Stage(environment.id, environment.kwargs).env
            _, info = env.reset(seed=trial_seeds(study.seed, 0)[0])
            require("oracle" in info, "oracle", "on: a study scores by it", False)
            setting = env.get_wrapper_attr("setting")
        for agent in study.agents:
            with naming(f"agent {agent.label!r} for {environment.label!r}", time_limit):
                resolve_agent((agent.name, agent.options))(setting)
        env.close()


@contextmanager
def naming(entry: str, time_limit: float | None = None) -> Iterator[None]:
    """Turn an error or a timeout in the block into a ValueError that this entry cannot be made."""
    try:
        with within(time_limit, "it"):
            yield
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a constructor may raise anything, and exit
        usual = ValueError | TypeError | AttributeError | OSError | ImportError | gym.error.Error
        whole = "".join(traceback.format_exception_only(error)).strip()
        said = str(error) if isinstance(error, usual) else whole
        raise ValueError(f"{entry} cannot be made: {cut(said, LONGEST)}") from error
