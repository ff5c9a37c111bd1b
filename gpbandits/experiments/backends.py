"""Where cells are computed: processes of this machine, with a time limit, and shares for jobs of an array.

A worker interrupts its own code, and ends itself a little later. It can do neither while it is stopped
(SIGSTOP) or while compiled code holds Python's lock. So it marks each cell that it computes by a file, and
the process that started it ends a worker whose mark stays too long.
"""

import math
import multiprocessing
import os
import signal
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from joblib import cpu_count, delayed

from bandit_envs.basics.arguments import require
from bandit_envs.basics.files import sweep
from bandit_envs.basics.threads import end_with
from gpbandits.evaluation.parts import in_processes
from gpbandits.experiments.cells import Survey, note
from gpbandits.experiments.locks import holder, tidied
from gpbandits.experiments.store import Store
from gpbandits.experiments.study import Cell, Study
from gpbandits.experiments.work import GRACE, CellTask, Outcome, failed, make_expendable, settle

Item = TypeVar("Item")
Report = Callable[[Outcome], None]
Backend = Callable[[Sequence[CellTask]], Iterator[Outcome]]  # yields outcomes as they finish, in any order
AT_ONCE = 10_000  # tasks in memory, each with the metadata of its file
_DIED = (
    "the process that computed it died, alone as well as beside others; perhaps it lacked memory, "
    "compiled code or a process that stood still exceeded the time limit, or it lowered a limit of the system"
)
FORMS = 'i/n such as 3/20, "auto" in an array of Slurm, SGE or LSF, or auto/n in one of PBS'
# Variables that schedulers set in a job of an array: its index, the first index, the step and the last index.
SLURM = "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_STEP", "SLURM_ARRAY_TASK_MAX"
SGE = "SGE_TASK_ID", "SGE_TASK_FIRST", "SGE_TASK_STEPSIZE", "SGE_TASK_LAST"
LSF = "LSB_JOBINDEX", "", "LSB_JOBINDEX_STEP", "LSB_JOBINDEX_END"
ALONE = "PBS_ARRAY_INDEX", "PBS_ARRAYID"  # of PBS and Torque, which do not say how many jobs there are


class Shard(NamedTuple):
    """Share i of n of a study: every n-th cell, then what others have left.

    Shares say where a job begins. A job that has finished its own goes on with missing cells that no other
    is computing, from the end, so that all are computed if some jobs never start or are preempted; with
    `only` it ends.
    """

    place: int  # counted from 1
    number: int
    only: bool = False

    def ordered(self, items: Sequence[Item]) -> list[Item]:
        """Return the items in the order in which this job takes them: its own, then the others."""
        own = range(self.place - 1, len(items), self.number)
        others = (i for i in reversed(range(len(items))) if i not in own and not self.only)
        return [items[i] for i in (*own, *others)]

    def __str__(self) -> str:
        return f"{self.place}/{self.number}"


def shard_of(text: str, variables: Mapping[str, str] = os.environ) -> Shard:
    """Return the share that `--shard` names.

    Args:
        text: "3/20"; "auto", by the variables of the scheduler; or "auto/20" where these lack the number.
        variables: of the process.
    """
    said, _, number = text.partition("/")
    if said != "auto":
        return _checked(text, said, number)
    for names, absent in ((SLURM, ""), (SGE, "undefined"), (LSF, "0")):
        if variables.get(names[0], absent) != absent:
            share = _of_array(names, variables)
            if number and number != str(share.number):
                raise ValueError(f"--shard must be auto in an array of {share.number} jobs, got {text!r}")
            return share
    index = next((variables[name] for name in ALONE if name in variables), None)
    if index is None:
        searched = ", ".join((SLURM[0], SGE[0], LSF[0], *ALONE))
        raise ValueError(f"--shard auto must run in a job of an array, got none of {searched}; give {FORMS}")
    if not number:
        raise ValueError(f"--shard must be auto/n in an array of PBS, which does not publish n, got {text!r}")
    return _checked(f"{index}/{number} by {text}", index, number)


def _of_array(names: tuple[str, str, str, str], variables: Mapping[str, str]) -> Shard:
    index, first, step, last = (variables.get(name) or "1" for name in names)
    given = ", ".join(f"{name}={variables.get(name)}" for name in names if name)
    if names[3] not in variables or not all(map(str.isdecimal, (index, first, step, last))):
        needed = ", ".join(filter(None, names))
        raise ValueError(f"--shard auto needs whole numbers in {needed}, got {given}; give {FORMS}")
    start, stride = int(first), int(step)
    own, number = (int(index) - start) // stride + 1, (int(last) - start) // stride + 1
    return _checked(given, str(own), str(number))


def _checked(text: str, index: str, number: str) -> Shard:
    usable = index.isdecimal() and number.isdecimal() and 1 <= int(index) <= int(number)
    if not usable:
        raise ValueError(f"--shard must be {FORMS}, with i from 1 to n, got {text!r}")
    return Shard(int(index), int(number))


def run(
    study: Study,
    store: Store,
    workers: int | None = None,
    report: Report = lambda outcome: None,
    backend: Backend | None = None,
    time_limit: float | None = None,
    shard: Shard | None = None,
    known: Survey | None = None,
) -> list[Outcome]:
    """Compute the cells that are missing or invalid, and return those that failed; the others continue.

    Args:
        store: stores each cell as soon as it is computed, so that a run can be interrupted and resumed.
        workers: number of processes on this machine; by default one a core.
        report: called in this process after each cell.
        backend: where the cells are computed instead, such as `cluster.dask("tcp://10.0.0.1:8786")`.
        time_limit: seconds after which a cell, or the wait for another run's cell, has failed. Compiled code,
            which signals do not interrupt, ends with its process, unless that is the calling one.
        shard: the share of a job in an array, which begins with its own cells, or ends with them, and waits
            for no other job.
        known: the survey of the store, if it was made just now.
    """
    require(time_limit is None or time_limit > 0.0, "time_limit", "a number of seconds above 0", time_limit)
    store.folder.mkdir(parents=True, exist_ok=True)
    known = known or store.survey(study)
    cells = list(zip(known.cells, known.keys, strict=True))
    cells = cells if shard is None else shard.ordered(cells)  # of all, so that jobs have the same shares
    missing = [each for each in cells if each[1] not in known.valid]
    backend, left = backend or local(workers), []
    folder = store.folder.absolute()

    def task(cell: Cell, key: str, wait: bool = False) -> CellTask:
        return CellTask(cell, folder / f"{key}.parquet", store.metadata(cell), wait, time_limit)

    sweep(store.folder)
    with tidied(store.folder):
        failed = []
        for start in range(0, len(missing), AT_ONCE):
            some = missing[start : start + AT_ONCE]
            failed += _computed(backend, [task(*each) for each in some], report, left.append)
            without = {_place(cell) for cell in (*left, *(outcome.cell for outcome in failed))}
            note(store.folder, [key for cell, key in some if _place(cell) not in without])
        if shard is not None:
            return failed
        places = set(map(_place, left))
        waiting = [task(*each, wait=True) for each in missing if _place(each[0]) in places]
        if waiting:
            whom = sorted({holder(task.path.parent, task.path.stem) for task in waiting})
            text = f"waiting for {', '.join(whom)} of another run, computing {len(waiting)} cells of this one"
            warnings.warn(text, stacklevel=2)
        return failed + _computed(backend, waiting, report, left.append)


def _place(cell: Cell) -> tuple[str, str, int]:
    """Identify a cell in its study, also where it comes back from another process."""
    return cell.environment.label, cell.agent.label, cell.first_trial


def _computed(
    backend: Backend, tasks: Sequence[CellTask], report: Report, leave: Callable[[Cell], None]
) -> list[Outcome]:
    """Return failed outcomes, and `leave` cells of another run: waiting at once, runs would go in step."""
    failed = []
    for outcome in backend(tasks):
        if outcome.elsewhere:
            leave(outcome.cell)
            continue
        report(outcome)
        if outcome.failure is not None:
            failed.append(outcome)
    return failed


def local(workers: int | None = None) -> Backend:
    """Return a backend of processes of this machine, by default one a core; `workers=1` is this process.

    A process that dies, for lack of memory for instance, ends the others of its pool. The cells they had
    begun are computed again one by one; a cell whose process dies again has failed. If it is this process,
    the run ends.
    """

    def compute_all(tasks: Sequence[CellTask]) -> Iterator[Outcome]:
        at_once = min(workers or cpu_count(), max(len(tasks), 1))
        left = dict(enumerate(tasks))
        while left:
            try:
                for i, outcome in _settled(left, workers == 1, at_once):
                    del left[i]
                    yield outcome
            except BrokenProcessPool:
                for i in list(left)[:at_once]:  # cells begin in order
                    task = left.pop(i)
                    try:
                        ((_, outcome),) = _settled({i: task}, here=False, at_once=1)
                    except BrokenProcessPool:
                        outcome = failed(task, _DIED)
                    yield outcome

    return compute_all


def _settled(tasks: dict[int, CellTask], here: bool, at_once: int) -> Iterator[tuple[int, Outcome]]:
    """Settle tasks in this process or in others, so many at once; joblib's pools have two at least."""
    # loky replaces a worker whose memory has grown, after its cell; nothing is lost, so the warning is noise
    warnings.filterwarnings("ignore", "A worker stopped while some jobs were given", UserWarning)
    # loky reuses old workers unless the initializer differs
    begun = {"initializer": _begin, "initargs": (os.getpid(), tuple(sys.path))}
    one: dict[str, Any] = {"pre_dispatch": 1} if at_once == 1 else {}
    with watched([] if here else list(tasks.values())) as marks:
        calls = [delayed(_settle_as)(i, task._replace(marks=marks)) for i, task in tasks.items()]
        yield from in_processes(1 if here else max(at_once, 2), calls, **begun, **one)


def _settle_as(i: int, task: CellTask) -> tuple[int, Outcome]:
    return i, settle(task)


def _begin(parent: int, path: tuple[str, ...]) -> None:
    """Set the parent's module path, and end this process soon after the parent, which sends no signal."""
    sys.path[:] = path
    signal.signal(signal.SIGINT, _no_interrupt)  # Ctrl-C is the parent's, who ends its workers
    make_expendable()
    end_with(parent)


def _no_interrupt(*_signal: object) -> None:
    """Do nothing; unlike an ignored signal, programs that an agent starts do not inherit this."""


_EACH = 0.5  # seconds between looks at marks
MORE = GRACE  # seconds in which a worker may end by itself first


@contextmanager
def watched(tasks: Sequence[CellTask]) -> Iterator[Path | None]:
    """Yield the folder in which the workers of these tasks mark them; None where no time limit is set."""
    longest = max((task.longest for task in tasks), default=math.inf)
    if math.isinf(longest):
        yield None
        return
    prefix = f"gpbandits_marks_{os.getpid()}_"
    with tempfile.TemporaryDirectory(prefix=prefix, ignore_cleanup_errors=True) as folder:
        done = threading.Event()
        arguments = Path(folder), longest + MORE, done
        watch = threading.Thread(target=_watch_over, args=arguments, name="time limits", daemon=True)
        watch.start()
        try:
            yield Path(folder)
        finally:
            done.set()
            watch.join()


def _watch_over(folder: Path, seconds: float, done: threading.Event) -> None:
    """End workers whose mark is there for longer, by the time that passes here: files' clocks may be set."""
    first_seen: dict[str, float] = {}
    while not done.wait(_EACH):
        now = time.monotonic()
        first_seen = {name: first_seen.get(name, now) for name in os.listdir(folder)}
        for name in [name for name, since in first_seen.items() if now - since > seconds]:
            pid = int(name.partition("-")[0])
            for process in multiprocessing.active_children():  # the number may belong to another one by now
                if process.pid == pid:
                    os.kill(pid, signal.SIGKILL) if hasattr(signal, "SIGKILL") else process.terminate()
            (folder / name).unlink(missing_ok=True)
