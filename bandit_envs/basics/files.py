"""Files that are whole or absent, whatever stops their writer, and files that one process holds."""

import errno
import glob
import os
import re
import socket
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from bandit_envs.basics.arguments import ArgumentError

try:
    import fcntl
except ImportError:  # pragma: no cover (not on Windows)
    fcntl = None

UNFINISHED = ".*.part"  # pattern of what a killed process leaves behind
SETTLED = 60.0  # seconds, far more than between the making of a file and its lock
_HELD: set[Path] = set()  # by this process, whose own locks do not keep its threads apart
_MUTEX = threading.Lock()
WITHOUT_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL}  # some shared folders say so
_OURS = re.compile(r"\..+\.[0-9a-f]{32}\.part")


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for writing that gets its name, in one step, when the block ends without an error.

    A reader meets the old file or the new one; an error, a full disk or a power cut leaves the old one alone.
    Unfinished files of killed writers stay until `sweep`: listing a folder of many files takes long.
    """
    path = Path(path)
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}.part")
    try:
        with temporary.open("xb") as file:
            _hold(file)
            yield file
            file.flush()
            os.fsync(file.fileno())  # a renamed file must not be empty after a power cut
        os.replace(temporary, path)
        _sync_folder(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def write_whole(path: str | os.PathLike[str], content: bytes) -> None:
    """Write these bytes so that a reader meets all of them or nothing."""
    with whole_file(path) as file:
        file.write(content)


def sweep(folder: str | os.PathLike[str], name: str | None = None) -> None:
    """Remove the unfinished files of a folder, or of one name in it, whose writers were killed a minute ago.

    A writer holds a lock on its file, which ends with it, on this machine or another that shares the folder;
    where there are no locks everything stays.
    """
    pattern = UNFINISHED if name is None else f".{glob.escape(name)}.*.part"
    for path in Path(folder).glob(pattern):
        if not (_OURS.fullmatch(path.name) and path.is_file()):
            continue
        with suppress(OSError), path.open("r+b") as file:  # somebody else may be quicker
            if time.time() - path.stat().st_mtime > SETTLED and _hold(file):
                path.unlink()


@contextmanager
def held(path: str | os.PathLike[str], remedy: str) -> Iterator[None]:
    """Hold a file for this process in the block, or raise an `ArgumentError` that names who holds it.

    The operating system drops the lock when the process ends, however it ends. The lock is a file beside it,
    which lasts as long as the block. Where the file system has no locks, nobody is kept out.

    Args:
        path: of the file, which need not exist.
        remedy: for the error.
    """
    path = Path(path).absolute()
    with _MUTEX:
        if path in _HELD:
            raise ArgumentError(
                "file", f"must be free, got {path}, which this process holds already; {remedy}"
            )
        _HELD.add(path)
    try:
        lock = path.with_name(f".{path.name}.lock")
        descriptor = _locked(lock, remedy)
        try:
            yield
        finally:
            lock.unlink(missing_ok=True)  # before it is free: nobody locks a file that is about to go
            os.close(descriptor)
    finally:
        with _MUTEX:
            _HELD.discard(path)


def is_held_here(path: str | os.PathLike[str]) -> bool:
    """Say whether this process holds a file."""
    return Path(path).absolute() in _HELD


def _locked(lock: Path, remedy: str) -> int:
    """Lock this file and return its descriptor."""
    while True:
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            _lock(descriptor)
            if lock.exists() and os.path.samestat(os.fstat(descriptor), lock.stat()):
                os.truncate(descriptor, 0)
                os.write(descriptor, f"process {os.getpid()} on {socket.gethostname()}".encode())
                return descriptor
        except FileNotFoundError:  # its owner has just removed it
            pass
        except OSError as error:
            holder = os.read(descriptor, 256).decode(errors="replace") or "another process"
            os.close(descriptor)
            if error.errno in (errno.EAGAIN, errno.EACCES):
                raise ArgumentError("file", f"must be free, got one that {holder} holds; {remedy}") from None
            raise
        os.close(descriptor)


def _lock(descriptor: int) -> None:
    """Lock a file until it is closed, or raise where another process has it."""
    try:
        if fcntl is not None:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in WITHOUT_LOCKS:
            raise


def _sync_folder(folder: Path) -> None:
    """Make the new name last, where folders can be opened."""
    if hasattr(os, "O_DIRECTORY"):
        opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


def _hold(file: BinaryIO) -> bool:
    """Lock a file until it is closed, and say whether that was possible."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
