"""Files that are whole or absent, whatever stops the process that writes them."""

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

UNFINISHED = ".*.part"  # pattern of what a killed process leaves behind


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
