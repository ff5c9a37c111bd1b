"""Files that are whole or absent, whatever stops the process that writes them."""

import os
import re
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # pragma: no cover (not on Windows)
    fcntl = None

UNFINISHED = ".*.part"  # pattern of what a killed process leaves behind
SETTLED = 60.0  # seconds, far more than between the making of a file and its lock
_OURS = re.compile(r"\..+\.[0-9a-f]{32}\.part")


class DamagedFileError(ValueError):
    """A file of results is torn, or its bytes are not those that were written."""


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for writing that gets its name, in one step, when the block ends without an error.

    A reader meets the old file or the new one; an error, a full disk among them, leaves the old one alone.
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
    finally:
        temporary.unlink(missing_ok=True)


def write_whole(path: str | os.PathLike[str], content: bytes) -> None:
    """Write these bytes so that a reader meets all of them or nothing."""
    with whole_file(path) as file:
        file.write(content)


def sweep(folder: str | os.PathLike[str]) -> None:
    """Remove the unfinished files of a folder whose writers were killed.

    A writer holds a lock on its file, which ends with it, on this machine or another that shares the folder;
    where there are no locks everything stays.
    """
    for path in Path(folder).glob(UNFINISHED):
        if not (_OURS.fullmatch(path.name) and path.is_file()):
            continue
        with suppress(OSError), path.open("r+b") as file:  # somebody else may be quicker
            if time.time() - path.stat().st_mtime > SETTLED and _hold(file):
                path.unlink()


def _hold(file: BinaryIO) -> bool:
    """Lock a file until it is closed, and say whether that was possible."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
