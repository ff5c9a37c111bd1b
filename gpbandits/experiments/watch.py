"""Workers that exceed the time limit and do not end by themselves are ended from outside.

A worker interrupts its own code, and ends itself a little later. It can do neither while it is stopped
(SIGSTOP) or while compiled code holds Python's lock. So it marks each cell that it computes by a file, and
the process that started it ends a worker whose mark stays too long.
"""

import math
import multiprocessing
import os
import signal
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from gpbandits.experiments.work import GRACE, CellTask

FOLDER = "gpbandits_marks_{pid}_"
_EACH = 0.5  # seconds between looks
MORE = GRACE  # seconds in which a worker may end by itself first


@contextmanager
def watched(tasks: Sequence[CellTask]) -> Iterator[Path | None]:
    """Yield the folder in which the workers of these tasks mark them; None where no time limit is set."""
    longest = max((task.longest for task in tasks), default=math.inf)
    if math.isinf(longest):
        yield None
        return
    prefix = FOLDER.format(pid=os.getpid())
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
            _end(int(name.partition("-")[0]))
            (folder / name).unlink(missing_ok=True)


def _end(pid: int) -> None:
    """End a worker of this process; a number may belong to another one by now."""
    for process in multiprocessing.active_children():
        if process.pid == pid:
            os.kill(pid, signal.SIGKILL) if hasattr(signal, "SIGKILL") else process.terminate()
