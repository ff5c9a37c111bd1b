"""Answers as plain data: numbers, arrays of numbers, text, lists and dicts of these, and nothing else.

An answer is one line of JSON and the bytes of its arrays. Unlike a pickle it names no class, so that whoever
wrote it decides what the reader gets, not what the reader does; and no part of it is larger than it says.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from bandit_envs.basics.arguments import is_integer

MOST_BYTES = 2**27  # of an answer; more than the arms that an agent certifies in a batch
MOST_TEXT = 2**22  # of its JSON, whose lists take some 20 times as much memory
NUMBERS = {np.dtype(code).str for code in "?bhilqBHILQefd"}  # types of arrays
ARRAY, DICT = "array", "dict"
Array = np.ndarray | np.generic


class NotPlainError(ValueError):
    """A value is no plain data, or bytes are not what `write` returns."""


def write(value: Any) -> bytes:
    """Return a value as bytes; raise a NotPlainError, which names its type, for anything but plain data."""
    arrays: list[bytes] = []
    try:
        text = json.dumps(_described(value, arrays))
    except (ValueError, RecursionError) as error:
        raise NotPlainError(str(error)) from error
    whole = b"".join([text.encode(), b"\n", *arrays])
    if len(text) > MOST_TEXT or len(whole) > MOST_BYTES:
        raise NotPlainError(f"at most {MOST_TEXT} bytes of text and {MOST_BYTES} in all, got {len(whole)}")
    return whole


def read(content: bytes) -> Any:
    """Invert `write`; tuples become lists, and 0-dimensional arrays numpy's numbers."""
    text, newline, rest = content.partition(b"\n")
    if not newline or len(text) > MOST_TEXT or len(content) > MOST_BYTES:
        raise NotPlainError(f"bytes of `write`, got {content[:20]!r}, {len(content)} in all")
    arrays = _Bytes(rest)
    try:
        value = _restored(json.loads(text), arrays.take)
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError, OverflowError) as error:
        raise NotPlainError(f"bytes of `write`, got others: {str(error)[:200]}") from error
    if arrays.left:
        raise NotPlainError(f"bytes of `write`, got {arrays.left} more than its arrays have")
    return value


def cut(text: str, most: int) -> str:
    """Return text of at most about so many characters: its beginning and its end, where errors are named."""
    left = len(text) - most
    if left <= 0:
        return text
    return f"{text[: most // 2]}\n[{left} characters are left out]\n{text[-(most - most // 2) :]}"


def _described(value: Any, arrays: list[bytes]) -> Any:
    """Return JSON of a value, and append the bytes of its arrays in their order."""
    if isinstance(value, Array):
        native = np.asarray(value, dtype=value.dtype.newbyteorder("="))
        if native.dtype.str not in NUMBERS:
            raise NotPlainError(f"an array of numbers, got one of {value.dtype}")
        arrays.append(native.tobytes())
        return {ARRAY: [native.dtype.str, *native.shape]}
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, list | tuple):
        return [_described(each, arrays) for each in value]
    if type(value) is dict and all(type(key) is str for key in value):
        return {DICT: {key: _described(each, arrays) for key, each in value.items()}}
    raise NotPlainError(f"numbers, arrays of numbers, text, or lists of these, got a {type(value).__name__}")


def _restored(data: Any, take: Callable[[str, list[int]], Any]) -> Any:
    if isinstance(data, list):
        return [_restored(each, take) for each in data]
    if not isinstance(data, dict):
        return data
    ((kind, inner),) = data.items()
    if kind == DICT:
        return {key: _restored(each, take) for key, each in inner.items()}
    if kind != ARRAY:
        raise ValueError(f"{ARRAY} or {DICT} must be the kind of an object, got {kind[:20]!r}")
    return take(inner[0], inner[1:])


class _Bytes:
    """The bytes of some arrays, taken one array after the other."""

    def __init__(self, content: bytes):
        self._content, self._start = content, 0

    @property
    def left(self) -> int:
        return len(self._content) - self._start

    def take(self, name: Any, shape: list[Any]) -> Any:
        """Return the next array, which may be written to, or a number of numpy where it has no axis."""
        if name not in NUMBERS or not all(is_integer(each) and 0 <= each <= MOST_BYTES for each in shape):
            raise ValueError(f"an array must have a type of numbers and sizes, got {name!r}"[:200])
        dtype, count = np.dtype(name), math.prod(shape)
        if dtype.itemsize * count > self.left:
            raise ValueError(f"an array of {count} numbers must have as many, got {self.left} bytes")
        flat = np.frombuffer(self._content, dtype, count, self._start) if count else np.empty(0, dtype)
        self._start += dtype.itemsize * count
        return flat.reshape(shape).copy() if shape else flat[0]
