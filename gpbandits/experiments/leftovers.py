"""Shared memory and folders that a killed run leaves outside of its own, removed by the next run.

A process that is killed alone is tidied up after by its helpers; a whole group is not.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

PROCESSES = Path("/proc")
PLACES = (Path("/dev/shm"), Path(tempfile.gettempdir()))
PATTERNS = ("joblib_memmapping_folder_{pid}_*", "sem.loky-{pid}-*")
NOTE = ".run-{pid}-{started}-{world}"


class Process(NamedTuple):
    """One that no other is mistaken for."""

    pid: int
    started: int  # ticks since the machine began
    world: str  # of this start of the machine and these numbers of processes: containers have their own


@contextmanager
def tidied(folder: Path) -> Iterator[None]:
    """Note this run in a folder of cells for the time of the block, and remove what killed ones have left.

    Only what is named by the number of a run that was noted here and is gone; nothing where the system has
    no /proc.
    """
    own = _process(os.getpid())
    if own is None:
        yield
        return
    for note in folder.glob(NOTE.format(pid="*", started="*", world=own.world)):
        _tidy(note)
    note = folder / NOTE.format(**own._asdict())
    note.touch()
    try:
        yield
    finally:
        note.unlink(missing_ok=True)


def _tidy(note: Path) -> None:
    pid, started = map(int, note.name.split("-")[1:3])
    now = _process(pid)
    if now is not None and now.started == started:
        return  # it runs
    if now is None:  # else the number is somebody else's by now
        for place in PLACES:
            for pattern in PATTERNS:
                _remove(place.glob(pattern.format(pid=pid)))
    note.unlink(missing_ok=True)


def _remove(paths: Iterator[Path]) -> None:
    for path in paths:
        with suppress(OSError):  # another run was quicker, or it is another user's
            if path.lstat().st_uid != os.getuid():
                continue
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def _process(pid: int) -> Process | None:
    """The process of this number, None if there is none or the system does not say."""
    try:
        started = (PROCESSES / str(pid) / "stat").read_text().rpartition(")")[2].split()[19]
        boot = (PROCESSES / "sys/kernel/random/boot_id").read_text()[:8]
        numbers = os.stat(PROCESSES / "self/ns/pid").st_ino
    except OSError:
        return None
    return Process(pid, int(started), f"{boot}.{numbers}")
