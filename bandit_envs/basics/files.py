"""Write files that are either complete or absent, lock files for one process, and read tables that ship."""

import errno
import glob
import os
import re
import socket
import stat
import threading
import time
import tomllib
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.resources import files
from pathlib import Path
from typing import Any, BinaryIO

from bandit_envs.basics.arguments import ArgumentError, require

try:
    import fcntl
except ImportError:  # pragma: no cover (not on Windows)
    fcntl = None

UNFINISHED = ".*.part"  # pattern of the files that a killed process leaves behind
SETTLED = 60.0  # seconds, far more than pass between creating a file and locking it
_HELD: set[Path] = set()  # by this process: its file locks do not exclude its own threads
_MUTEX = threading.Lock()
WITHOUT_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL}  # where locks are missing
_OURS = re.compile(r"\..+\.[0-9a-f]{32}\.part")


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for writing that gets its name, in one step, when the block ends without an error.

    A reader finds the old file or the new one; an error, a full disk or a power cut leaves the old one.
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
    """Write these bytes so that a reader finds all of them or none."""
    with whole_file(path) as file:
        file.write(content)


def sweep(folder: str | os.PathLike[str], name: str | None = None) -> None:
    """Remove unfinished files of a folder, or of one name in it, whose writers were killed over a minute ago.

    A writer's lock on its file ends with the writer, also on another machine that shares the folder. Where
    the file system has no locks, nothing is removed.
    """
    pattern = UNFINISHED if name is None else f".{glob.escape(name)}.*.part"
    for path in Path(folder).glob(pattern):
        if not (_OURS.fullmatch(path.name) and path.is_file()):
            continue
        with suppress(OSError), path.open("r+b") as file:  # another process may remove it first
            if time.time() - path.stat().st_mtime > SETTLED and _hold(file):
                path.unlink()


def check_path(name: str, path: Any) -> None:
    """Raise unless the value of an argument is the path of a file."""
    usable = isinstance(path, str | os.PathLike) and Path(path).name != "" and "\0" not in os.fspath(path)
    require(usable, name, "the path of a file", path)


def require_no_pipe(name: str, path: str | os.PathLike[str]) -> None:
    """Raise if a path leads to a pipe, a socket or a device, on which reading waits without an end."""
    with suppress(FileNotFoundError):  # for who opens it to say
        kind = os.stat(path).st_mode
        endless = not (stat.S_ISREG(kind) or stat.S_ISDIR(kind))
        require(not endless, name, "the path of a file, not of a pipe or device", os.fspath(path))


@contextmanager
def held(path: str | os.PathLike[str], remedy: str) -> Iterator[None]:
    """Lock a file for this process in the block, or raise an `ArgumentError` that names the holder.

    The file need not exist. The operating system releases the lock when the process ends, however it ends.
    The lock is a file beside the locked one, kept while the block runs. Where the file system has no locks,
    no process is excluded.
    """
    path = Path(path).resolve()  # one file has one path, whatever folders or links lead to it
    require(path.parent.is_dir(), "file", "in a folder that exists", os.fspath(path))
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
            lock.unlink(missing_ok=True)  # while locked, so that no process locks a file about to be removed
            os.close(descriptor)
    finally:
        with _MUTEX:
            _HELD.discard(path)


def is_held_here(path: str | os.PathLike[str]) -> bool:
    """Return whether this process holds a file."""
    return Path(path).resolve() in _HELD


def _locked(lock: Path, remedy: str) -> int:
    """Lock this file and return its descriptor."""
    while True:
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o666)
        if not lock_bytes(descriptor):
            holder = os.read(descriptor, 256).decode(errors="replace") or "another process"
            os.close(descriptor)
            raise ArgumentError("file", f"must be free, got one that {holder} holds; {remedy}")
        with suppress(FileNotFoundError):  # its holder has just removed it
            if os.path.samestat(os.fstat(descriptor), lock.stat()):
                os.truncate(descriptor, 0)
                os.write(descriptor, f"process {os.getpid()} on {socket.gethostname()}".encode())
                return descriptor
        os.close(descriptor)


def lock_bytes(descriptor: int, wait: bool = False, length: int = 0, start: int = 0) -> bool:
    """Lock bytes of a file, by default all, until it is closed; False if another process holds them."""
    if fcntl is None:
        return True
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB), length, start)
    except (BlockingIOError, PermissionError):  # EAGAIN or EACCES: another process has it
        return False
    except OSError as error:
        if error.errno not in WITHOUT_LOCKS:
            raise
    return True


def _sync_folder(folder: Path) -> None:
    """Flush a folder, where the system allows it, so that a new name survives a power cut."""
    if hasattr(os, "O_DIRECTORY"):
        opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


def _hold(file: BinaryIO) -> bool:
    """Lock a file until it is closed, and return whether that was possible."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def shipped(path: str) -> dict[str, dict[str, Any]]:
    """Return the rows of a TOML file of `bandit_envs`, by name."""
    return tomllib.loads(files("bandit_envs").joinpath(path).read_text(encoding="utf-8"))
