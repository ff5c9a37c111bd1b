"""One process at a time computes a cell, and a run removes what killed runs have left.

All cells of a folder share one file, in which each locks its own byte; the operating system drops a lock when
its owner ends, so a killed process leaves nothing to clean up. Without such locks (Windows, some network
folders), two runs may compute a cell twice and store it once. Shared memory and temporary folders are removed
by helpers of a single killed process, but these do not survive when the whole group is killed.
"""

import errno
import os
import shutil
import struct
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from bandit_envs.basics.files import fcntl, lock_bytes

PROCESSES = Path("/proc")
PLACES = (Path("/dev/shm"), Path(tempfile.gettempdir()))
PATTERNS = ("joblib_memmapping_folder_{pid}_*", "sem.loky-{pid}-*", "gpbandits_marks_{pid}_*")
NOTE = ".run-{pid}-{started}-{world}"
FILE = ".locks"
_PATIENCE = 0.1  # seconds between attempts
READ_ONLY = {errno.EACCES, errno.EPERM, errno.EROFS}
_OWNER = "hhqqi4x"  # struct flock of Linux: type, whence, start, length, process


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
    own = process_of(os.getpid())
    if own is None:
        yield
        return
    for note in folder.glob(NOTE.format(pid="*", started="*", world=own.world)):
        pid, started = map(int, note.name.split("-")[1:3])
        now = process_of(pid)
        if now is not None and now.started == started:
            continue  # the run is still alive
        if now is None:  # else the number belongs to another process by now
            _remove_those_of(pid)
        note.unlink(missing_ok=True)
    note = folder / NOTE.format(**own._asdict())
    note.touch()
    try:
        yield
    finally:
        note.unlink(missing_ok=True)


def _remove_those_of(pid: int) -> None:
    patterns = [place / each.format(pid=pid) for place in PLACES for each in PATTERNS]
    for path in (path for each in patterns for path in each.parent.glob(each.name)):
        with suppress(OSError):  # another run has removed it, or it belongs to another user
            if path.lstat().st_uid == os.getuid():
                shutil.rmtree(path) if path.is_dir() else path.unlink()


def process_of(pid: int) -> Process | None:
    """Return the process of this number; None if there is none, or no /proc."""
    try:
        started = (PROCESSES / str(pid) / "stat").read_text().rpartition(")")[2].split()[19]
        boot = (PROCESSES / "sys/kernel/random/boot_id").read_text()[:8]
        numbers = os.stat(PROCESSES / "self/ns/pid").st_ino
    except OSError:
        return None
    return Process(pid, int(started), f"{boot}.{numbers}")


@contextmanager
def locked(folder: Path, key: str, wait: bool = True, seconds: float | None = None) -> Iterator[bool]:
    """Lock a cell, by its hexadecimal key, during the block, and yield True if the lock was obtained.

    While another process holds it, the block waits so many seconds at most, or yields False at once without
    `wait`.
    """
    with _opened(folder) as descriptor:
        deadline = time.monotonic() + (seconds or 0.0 if wait else 0.0)
        forever = wait and seconds is None
        while not (held := lock_bytes(descriptor, forever, 1, _offset(key))) and time.monotonic() < deadline:
            time.sleep(_PATIENCE)
        yield held


def holder(folder: Path, key: str) -> str:
    """Name the process that holds the lock of a cell, by its number where the system has it (Linux)."""
    with _opened(folder) as descriptor:
        pid = _owner(descriptor, key)
    return f"process {pid}" if pid else "a process"


def _owner(descriptor: int, key: str) -> int | None:
    """Return the number of the process that holds a cell, 0 of one elsewhere; None if none, or not Linux."""
    if fcntl and sys.platform == "linux":
        with suppress(OSError):
            asked = struct.pack(_OWNER, fcntl.F_WRLCK, os.SEEK_SET, _offset(key), 1, 0)
            kind, *_, pid = struct.unpack(_OWNER, fcntl.fcntl(descriptor, fcntl.F_GETLK, asked))
            if kind != fcntl.F_UNLCK:
                return max(pid, 0)
    return None


def is_locked(folder: Path, key: str) -> bool:
    """Return True if another process holds the lock of this cell now; without a right to write, on Linux."""
    try:
        with _opened(folder, os.O_RDWR) as descriptor:
            return not lock_bytes(descriptor, False, 1, _offset(key))
    except FileNotFoundError:
        return False
    except OSError as error:
        if error.errno not in READ_ONLY:
            raise
    with _opened(folder, os.O_RDONLY) as descriptor:
        return _owner(descriptor, key) is not None


@contextmanager
def _opened(folder: Path, flags: int = os.O_RDWR | os.O_CREAT) -> Iterator[int]:
    descriptor = os.open(folder / FILE, flags, 0o666)
    try:
        yield descriptor
    finally:
        os.close(descriptor)  # which also drops the lock


def _offset(key: str) -> int:
    """Return the byte of a cell, one of 2^60 beyond the file's end, so that collisions are negligible."""
    return int(key[:15], 16)
