"""Computing one cell, in whatever process: what runs side by side, on this machine or on others."""

import errno
import math
import os
import platform
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from bandit_envs.basics.files import write_whole
from bandit_envs.basics.threads import one_thread
from bandit_envs.basics.types import Floats
from gpbandits.evaluation import evaluate
from gpbandits.evaluation.result import Result
from gpbandits.experiments.cell_file import sound
from gpbandits.experiments.limits import GRACE, within
from gpbandits.experiments.locks import holder, locked
from gpbandits.experiments.sharing import forget_stages, stage_of
from gpbandits.experiments.store import failure_beside
from gpbandits.experiments.study import Cell


class Task(NamedTuple):
    """A cell, the file that is to hold it, and what is kept there beside the numbers.

    Settled before the run: editing the code in the meantime must not rename what the old code computes.
    """

    cell: Cell
    path: Path
    metadata: dict[str, Any]
    wait: bool = False  # for another run that is computing the cell, rather than leave it for later
    time_limit: float | None = None  # seconds, of the wait and of the work

    @property
    def longest(self) -> float:
        """Seconds after which a process that runs is done with it."""
        return math.inf if self.time_limit is None else (1 + self.wait) * self.time_limit + GRACE


class Outcome(NamedTuple):
    """What became of a cell."""

    cell: Cell
    failure: str | None = None  # the traceback, if it raised
    regret: Floats | None = None  # (trials,) at the horizon, of the budget where there is one, if it did not
    elsewhere: bool = False  # another run is computing it

    @property
    def reason(self) -> str:
        """The failure in one line: what stands below the last frame of its traceback."""
        lines = (self.failure or "").strip().splitlines() or [""]
        below = 1 + max((i for i, line in enumerate(lines) if line.startswith("  ")), default=-1)
        return lines[min(below, len(lines) - 1)]


def settle(task: Task) -> Outcome:
    """Compute a cell and keep its numbers, or its traceback; take what another process has kept meanwhile.

    Raises:
        OSError: of the folder or the disk, which every other cell would meet as well; it names the file.
        ValueError: this process runs other code than the one that settled the task.
    """
    _check_code(task)
    _check_folder(task.path.parent)
    with locked(task.path.parent, task.path.stem, task.wait, task.time_limit) as held:
        if not held:
            return _left(task)
        if (kept := sound(task.path)) is not None:
            return _done(task, kept)
        begun = time.perf_counter()
        try:
            with within(task.time_limit), one_thread():
                result = compute(task.cell)
        except KeyboardInterrupt:  # ends the run
            raise
        except BaseException:  # whatever else it is, the other cells go on and the caller reports it
            return failed(task, traceback.format_exc())
        _keep(task, result, time.perf_counter() - begun)
        return _done(task, result)


def _left(task: Task) -> Outcome:
    """Leave a cell to another run, which may still finish it: no failure of the cell is kept."""
    if not task.wait:
        return Outcome(task.cell, elsewhere=True)
    whom = f"{holder(task.path.parent, task.path.stem)} of another run, which is computing the cell"
    return Outcome(task.cell, f"waited for {whom}, longer than the time limit of {task.time_limit:g} s")


def compute(cell: Cell) -> Result:
    """Play one cell: the same numbers as those trials of that agent in one `evaluate` of everything."""
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
        forget_stages()  # one may be half made where a time limit struck, or too large
        raise


def _keep(task: Task, result: Result, seconds: float) -> None:
    timings = {"seconds": seconds, "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
    with _writing(task.path):
        result.save(task.path, task.metadata | {"timings": timings})
        failure_beside(task.path).unlink(missing_ok=True)


def failed(task: Task, failure: str) -> Outcome:
    """Keep the reason why a cell could not be computed."""
    path = failure_beside(task.path)
    text = failure.encode(errors="backslashreplace").decode()  # messages may have halves of surrogate pairs
    with _writing(path):
        write_whole(path, f"{task.cell}\n\n{text}".encode())
    return Outcome(task.cell, failure=text)


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Say what to do about an error of the disk: it would meet every other cell as well."""
    try:
        yield
    except OSError as error:
        reason = f"{error.strerror or error}; mend that and run again, what is computed is kept"
        raise OSError(error.errno, reason, str(path)) from error


def _check_folder(folder: Path) -> None:
    if not folder.is_dir():
        reason = "the folder of the cells is gone, or not shared with this worker; run again when it is there"
        raise FileNotFoundError(errno.ENOENT, reason, str(folder))


def _check_code(task: Task) -> None:
    """Raise unless this process has the code that the cell is named by: a cluster may have another."""
    settled, here = task.metadata["configuration"], task.cell.configuration
    names = ("versions", "sources", "files")
    other = [
        f"{name} of {key}: {here[name].get(key)} rather than {settled[name].get(key)}"
        for name in names
        for key in sorted(settled[name].keys() | here[name].keys())
        if here[name].get(key) != settled[name].get(key)
    ]
    if other:
        raise ValueError(
            f"workers must have the code and the files that the run began with, but process {os.getpid()} on "
            f"{platform.node()} has {'; '.join(other)}; install the same there, or run again after an edit"
        )


def _done(task: Task, result: Result) -> Outcome:
    (curve,) = result.main.values()
    return Outcome(task.cell, regret=curve[:, -1])
