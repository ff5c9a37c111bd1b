"""A run removes the shared memory and temporary folders of earlier runs that were killed.

The helpers of a single killed process remove them; they do not survive when the whole group is killed.
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
    """A process is identified by its number, its start time and its system, since numbers are used again."""

    pid: int
    started: int  # ticks since the machine was started
    world: str  # identifies the boot and the namespace of process numbers: containers have their own


@contextmanager
def tidied(folder: Path) -> Iterator[None]:
    """Note this run in a folder of cells during the block, and remove what killed runs have left.

    Only files named by the number of a noted run that has ended are removed; without /proc, none.
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
        return  # the run is still alive
    if now is None:  # else the number belongs to another process by now
        for place in PLACES:
            for pattern in PATTERNS:
                _remove(place.glob(pattern.format(pid=pid)))
    note.unlink(missing_ok=True)


def _remove(paths: Iterator[Path]) -> None:
    for path in paths:
        with suppress(OSError):  # another run has removed it, or it belongs to another user
            if path.lstat().st_uid != os.getuid():
                continue
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def _process(pid: int) -> Process | None:
    """Return the process of this number; None if there is none, or no /proc."""
    try:
        started = (PROCESSES / str(pid) / "stat").read_text().rpartition(")")[2].split()[19]
        boot = (PROCESSES / "sys/kernel/random/boot_id").read_text()[:8]
        numbers = os.stat(PROCESSES / "self/ns/pid").st_ino
    except OSError:
        return None
    return Process(pid, int(started), f"{boot}.{numbers}")
