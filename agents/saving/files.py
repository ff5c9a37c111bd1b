"""Read and write files of JSON with a format, a version and a digest; one writer at a time, in one step."""

from __future__ import annotations

import hashlib
import json
import os
import re
import zlib
from binascii import Error as NotBase64
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from bandit_envs.basics.arguments import is_count, require, written_as
from bandit_envs.basics.files import check_path, held, require_no_pipe, sweep_beside, write_whole

from .data import unpacked_size

VERSION = 3
MAX_BYTES = 2**29  # limit of a file, and of all its arrays unpacked
FORMATS = {  # format -> module and class that load it
    "gpbandits agent": ("agents.saving.recorded", "Saving"),
    "gpbandits tuner": ("agents.tuning.tuner", "Tuner"),
    "gpbandits preference tuner": ("agents.tuning.preferences", "PreferenceTuner"),
}
PARTS = {"format", "version", "sha256", "content"}
# Errors that parsing raises on content of another structure.
STRANGE = ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, StopIteration, TypeError
AGAIN = "take an earlier copy, or save to another file"
WAIT = "wait for it, or save to another file"
PATIENCE = 2.0  # seconds that a saver waits for another one, which takes milliseconds
_HEAD = re.compile(rb'\s*\{\s*"format":\s*"([^"\\]*)"')


def write(
    path: str | os.PathLike[str],
    form: str,
    content: dict[str, Any],
    *,
    owner: Any = None,
    continued: Callable[[str | os.PathLike[str]], None] = lambda path: None,
    remedy: str = WAIT,
) -> None:
    """Lock a file, check what it holds, and replace it by JSON content.

    An error, an interruption, a full disk or a power cut leaves the old file unchanged. An `ArgumentError`
    names a file of another kind, or another process that holds the file.

    Args:
        owner: who may hold the file already, and has then checked it; see `held`.
        continued: raises where the file holds what the content lacks.
        remedy: what to do while another process holds the file.
    """
    check_path("path", path)
    head = {"format": form, "version": VERSION, "sha256": digest_of(form, content)}
    text = json.dumps({**head, "content": content}, allow_nan=False).encode()
    with written_as({"file": "path"}), held(path, remedy, owner, PATIENCE) as fresh:
        if fresh and os.path.exists(path) and os.path.getsize(path):
            with Path(path).open("rb") as file:
                found = _HEAD.match(file.read(1024))
            other = "another kind" if found is None else f"format {found[1].decode(errors='replace')!r}"
            words = f"new, or a file of format {form!r} to replace; it is of {other}, which saving would lose"
            require(found is not None and found[1] == form.encode(), "path", words, os.fspath(path))
        if fresh:
            continued(path)
        sweep_beside(path)
        write_whole(path, text)


def digest_of(form: str, content: dict[str, Any]) -> str:
    """Return the digest of the content; it detects damage, but no deliberate forgery."""
    text = json.dumps([form, VERSION, content], allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def read(path: str | os.PathLike[str], *forms: str, max_bytes: int = MAX_BYTES) -> dict[str, Any]:
    """Return the content of a file in one of some formats; a ValueError names any other format."""
    whole = _opened(path, forms, max_bytes)
    content = whole["content"]
    with parsing(path):
        if whole["sha256"] != digest_of(whole["format"], content):
            raise ValueError(f"its bytes are not those that were saved, it is damaged or was edited; {AGAIN}")
        size = unpacked_size(content)
    _require_small(path, size, max_bytes)
    return content


@contextmanager
def parsing(path: str | os.PathLike[str]) -> Iterator[None]:
    """Report a file as damaged if its content has another structure than `save` writes."""
    try:
        yield
    except (*STRANGE, NotBase64, zlib.error) as error:
        raise ValueError(f"{path} is damaged, or was edited: {error!r}; {AGAIN}") from error
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


@contextmanager
def playing(path: str | os.PathLike[str]) -> Iterator[None]:
    """Report a file whose agent does not repeat the recorded actions."""
    try:
        yield
    except Exception as error:  # user-defined agents may raise any error
        raise ValueError(
            f"{path} holds what its agent does not play again: {error!r}; load it with the agent and the "
            "gpbandits that saved it"
        ) from error


def load(path: str | os.PathLike[str], *, trust: bool = False, max_bytes: int = MAX_BYTES) -> Any:
    """Return the saved agent or tuner; it continues exactly where it was saved.

    A file is data: it builds settings, kernels and arrays, and the agent of a registered name, which then
    replays the recorded rounds. Loading takes as long as the agent took to choose; a tuner loads faster, see
    `Tuner.load`.

    Args:
        path: of a file that `save` wrote.
        trust: also load an agent by its class path. Its module is then imported and the named class is called
            with arguments from the file: this executes code chosen by the file's author.
        max_bytes: limit of the file, and of all its arrays unpacked.

    Raises:
        ValueError: the file is of another kind or version, is damaged or too large, or names a class path.
        FileNotFoundError: the file does not exist.
    """
    module, name = FORMATS[_opened(path, tuple(FORMATS), max_bytes)["format"]]
    return getattr(import_module(module), name).load(path, trust=trust, max_bytes=max_bytes)


def _opened(path: str | os.PathLike[str], forms: tuple[str, ...], max_bytes: int) -> dict[str, Any]:
    """Return the parts of a file in one of some formats, of this version."""
    check_path("path", path)
    require(is_count(max_bytes), "max_bytes", "a positive integer", max_bytes)
    require_no_pipe("path", path)
    with Path(path).open("rb") as file:
        _require_small(path, size := os.fstat(file.fileno()).st_size, max_bytes)
        raw = file.read(size + 1)

    def no_number(text: str) -> Any:
        raise ValueError(f"{text} is no number of JSON")

    try:
        whole = json.loads(raw.decode(), parse_constant=no_number)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"path must lead to a file written by save, got {path}: {error}") from error
    whole = whole if isinstance(whole, dict) else {}
    form, version = whole.get("format"), whole.get("version")
    if form not in forms:
        expected = " or ".join(map(repr, forms))
        raise ValueError(f"path must lead to a file of format {expected}, got {form!r} in {path}")
    if type(version) is not int or version != VERSION:
        raise ValueError(
            f"{path} has version {version!r} of the format, this package reads {VERSION}; "
            "load it with the gpbandits that saved it"
        )
    if set(whole) != PARTS or not isinstance(whole["content"], dict):
        raise ValueError(f"{path} is damaged: it must have exactly {', '.join(sorted(PARTS))}; {AGAIN}")
    return whole


def _require_small(path: str | os.PathLike[str], size: int, max_bytes: int) -> None:
    if size > max_bytes:
        raise ValueError(
            f"{path} takes more than {max_bytes} bytes; pass max_bytes={size} or more to load it all the same"
        )
