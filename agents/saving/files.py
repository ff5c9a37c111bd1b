"""One file: JSON with a format and a version, written whole or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

VERSION = 1
FORMATS = {  # format -> who reads it
    "gpbandits agent": ("agents.saving.recorded", "Recorded"),
    "gpbandits tuner": ("agents.tuning.tuner", "Tuner"),
}


def write(path: str | os.PathLike[str], form: str, content: dict[str, Any]) -> None:
    """Write content that JSON can hold; an interrupted write leaves the old file as it was."""
    path = Path(path)
    text = json.dumps({"format": form, "version": VERSION, **content}, allow_nan=False)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_text(text, encoding="utf-8")
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def read(path: str | os.PathLike[str], *forms: str) -> dict[str, Any]:
    """Return the content of a file in one of some formats, or raise a ValueError that says what it is."""
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"path must lead to a file written by save, got {path}: {error}") from error
    form = content.get("format") if isinstance(content, dict) else None
    if form not in forms:
        expected = " or ".join(map(repr, forms))
        raise ValueError(f"path must lead to a file of format {expected}, got {form!r} in {path}")
    if content.get("version") != VERSION:
        raise ValueError(
            f"{path} has version {content.get('version')!r} of the format, this package reads {VERSION}; "
            "load it with the gpbandits that saved it"
        )
    return content


@contextmanager
def parsing(path: str | os.PathLike[str]) -> Iterator[None]:
    """Say of a file whose content has another structure than `save` gives it that it is damaged."""
    try:
        yield
    except (AttributeError, IndexError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is damaged, or was edited: {error!r}; take an earlier copy") from error


def load(path: str | os.PathLike[str]) -> Any:
    """Return the agent or the tuner that a file holds; it goes on exactly where it was saved.

    Args:
        path: of a file that `save` wrote.

    Raises:
        ValueError: the file is of another kind or version.
        FileNotFoundError: there is none.
    """
    module, name = FORMATS[read(path, *FORMATS)["format"]]
    return getattr(import_module(module), name).load(path)
