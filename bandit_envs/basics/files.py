"""Write files that are either complete or absent, lock files for one writer, and read tables, row by row."""

import csv
import errno
import glob
import hashlib
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
from typing import Any, BinaryIO, TextIO

from filelock import FileLock, Timeout

from bandit_envs.basics.arguments import ArgumentError, require

try:
    import fcntl
except ImportError:  # pragma: no cover (not on Windows)
    fcntl = None

UNFINISHED = ".*.part"  # pattern of the files that a killed process leaves behind
SETTLED = 60.0  # seconds, far more than pass between creating a file and locking it
LONGEST = 200  # bytes of a name that the names of files beside it repeat: most systems allow 255
_HELD: dict[Path, tuple[int, Any]] = {}  # file -> process, since a forked one has a copy, and owner
_MUTEX = threading.Lock()
WITHOUT_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL}  # where locks are missing
_OURS = re.compile(r"\..+\.[0-9a-f]{32}\.part")


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for writing that gets its name, in one step, when the block ends without an error.

    A reader finds the old file or the new one; an error, a full disk or a power cut leaves the old one.
    A symbolic link stays, and the file to which it leads is replaced. Unfinished files of killed writers stay
    until `sweep`: listing a folder of many files takes long.
    """
    path = target_of(path)
    temporary = _beside(path, f"{uuid.uuid4().hex}.part")
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
    pattern = UNFINISHED if name is None else f".{glob.escape(_short(name))}.*.part"
    for path in Path(folder).glob(pattern):
        if not (_OURS.fullmatch(path.name) and path.is_file()):
            continue
        with suppress(OSError), path.open("r+b") as file:  # another process may remove it first
            if time.time() - path.stat().st_mtime > SETTLED and _hold(file):
                path.unlink()


def sweep_beside(path: str | os.PathLike[str]) -> None:
    """Remove unfinished files that killed writers of this file have left; see `sweep`."""
    target = target_of(path)
    sweep(target.parent, target.name)


def target_of(path: str | os.PathLike[str]) -> Path:
    """Return the file to which a path leads, which may be absent, through all links and folders.

    A pipe, a device or a circle of links, which no file may replace, is a ValueError.
    """
    target = Path(os.path.realpath(path))
    try:
        mode = target.lstat().st_mode
    except OSError:  # absent, or the write says what is wrong
        return target
    usable = stat.S_ISREG(mode) or stat.S_ISDIR(mode)  # writing to a folder has an error of its own
    require(usable, "path", "new or a regular file", os.fspath(path))
    return target


def _beside(path: Path, ending: str) -> Path:
    """Return the path of a hidden file that belongs to this one."""
    return path.with_name(f".{_short(path.name)}.{ending}")


def _short(name: str) -> str:
    """Return a name, or its digest where it would leave no room for an ending."""
    encoded = os.fsencode(name)
    return name if len(encoded) <= LONGEST else hashlib.sha256(encoded).hexdigest()


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
def held(
    path: str | os.PathLike[str], remedy: str, owner: Any = None, seconds: float = 0.0
) -> Iterator[bool]:
    """Lock a file in the block and yield True, or raise an `ArgumentError` that names the holder.

    The file need not exist. The operating system releases the lock when the process ends, however it ends.
    The lock is a file beside the locked one, kept while the block runs. Where the file system has no locks,
    only this process is excluded.

    Args:
        remedy: what to do instead, for the message.
        owner: an object that may lock the file again inside the block, which then yields False.
        seconds: how long to wait for another process.
    """
    target = target_of(path)  # one file has one path, whatever folders or links lead to it
    require(target.parent.is_dir(), "file", "in a folder that exists", os.fspath(target))
    with _MUTEX:
        pid, holder = _HELD.get(target, (None, None))
        ours = pid == os.getpid()
        again = ours and owner is not None and holder is owner
        if ours and not again:
            taken = f"must be free, got {target}, which this process holds already; {remedy}"
            raise ArgumentError("file", taken)
        if not again:
            _HELD[target] = os.getpid(), owner
    if again:
        yield False
        return
    try:
        with _locked(_beside(target, "lock"), remedy, seconds):
            yield True
    finally:
        with _MUTEX:
            del _HELD[target]


@contextmanager
def _locked(path: Path, remedy: str, seconds: float) -> Iterator[None]:
    """Lock this file in the block, with a note of the holder in it, and remove it at the end."""
    lock = FileLock(path, fallback_to_soft=False)  # soft locks stay when their process is killed
    try:
        lock.acquire(timeout=seconds, poll_interval=0.01)
    except Timeout:
        raise ArgumentError("file", f"must be free, got one that {_noted(path)} holds; {remedy}") from None
    except OSError as error:
        if error.errno not in WITHOUT_LOCKS:
            raise
    try:
        with suppress(OSError):  # on a full disk the message to others lacks the holder's name
            path.write_text(f"process {os.getpid()} on {socket.gethostname()}", encoding="utf-8")
        yield
    finally:
        path.unlink(missing_ok=True)  # while locked, so that no process locks a file about to be removed
        lock.release()


def _noted(path: Path) -> str:
    try:
        return path.read_bytes()[:256].decode(errors="replace") or "another process"
    except OSError:  # released since
        return "another process"


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


def row_error(row: int, complaint: str) -> ArgumentError:
    """Return the error of one row, from 0; the message counts from 1, as in a table below its header."""
    return ArgumentError(f"row {row + 1}", complaint)


def csv_names(path: str | os.PathLike[str], argument: str) -> list[str]:
    """Return the names in the header without blanks around them; they must differ.

    `argument` is the name under which the caller was given the path.
    """
    with _opened(path, argument) as file:
        names = [name.strip() for name in next(csv.reader(file), [])]
    require(len(set(names)) == len(names) > 0, argument, "a table with different names in its header", names)
    return names


def csv_rows(path: str | os.PathLike[str], argument: str) -> Iterator[list[str]]:
    """Yield the rows below the header; one of another length is refused by its number.

    Empty lines at the end are none, others are refused likewise.
    """
    with _opened(path, argument) as file:
        lines, empty = csv.reader(file), 0
        width = len(next(lines))
        for row, cells in enumerate(lines):
            if not cells:
                empty += 1
                continue
            if empty:
                raise row_error(row - empty, "must have cells, got an empty line")
            if len(cells) != width:
                raise row_error(row, f"must have {width} cells, got {len(cells)}")
            yield cells


@contextmanager
def _opened(path: str | os.PathLike[str], argument: str) -> Iterator[TextIO]:
    """Open a file as text; bytes that are not UTF-8 are refused by file and line."""
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            yield file
    except UnicodeDecodeError as error:  # it counts bytes from the start of a block, not of the file
        with open(path, "rb") as lines:
            line = next(i for i, each in enumerate(lines, 1) if each.decode(errors="ignore").encode() != each)
        words = f"must be a CSV in UTF-8; line {line} is not, got {os.fspath(path)}"
        raise ArgumentError(argument, words) from error
    except csv.Error as error:  # such as a cell of 131,072 characters, after a quote that is never closed
        words = f"must be a CSV, each quote of which is closed ({error}), got {os.fspath(path)}"
        raise ArgumentError(argument, words) from error
