"""Store arrays of numbers in JSON: a type, a shape, and bytes whose unpacked size these fix."""

from __future__ import annotations

import base64
import math
import re
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from bandit_envs.basics.arguments import is_integer

NUMERIC = "biuf"  # dtype kinds that are numbers
DTYPE = re.compile(rf"[<>|=]?[{NUMERIC}]\d{{1,2}}")  # numpy's names of these types
KIND = "array"  # the "type" field of an array's data
PARTS = {"type", "dtype", "shape", "zlib"}


def write_array(array: np.ndarray) -> dict[str, Any]:
    """Return the data of an array of numbers."""
    if array.dtype.kind not in NUMERIC:
        raise ValueError(f"cannot save an array of {array.dtype}; only numbers are data")
    packed = base64.b64encode(zlib.compress(np.ascontiguousarray(array).tobytes())).decode()
    return {"dtype": array.dtype.str, "shape": list(array.shape), "zlib": packed}


def read_array(data: Mapping[str, Any]) -> np.ndarray:
    """Invert `write_array`; unpacking stops where the bytes exceed the declared size."""
    dtype, shape, size = _described(data)
    unpacking = zlib.decompressobj()
    raw = unpacking.decompress(base64.b64decode(data["zlib"], validate=True), size + 1)
    if len(raw) != size or not unpacking.eof or unpacking.unused_data:
        raise ValueError(f"the file has an array of {dtype} and shape {shape} whose bytes are not as many")
    return np.frombuffer(raw, dtype).reshape(shape).copy()


def unpacked_size(data: Any) -> int:
    """Return the total unpacked size of all arrays in some data, in bytes, as declared."""
    size, left = 0, [data]
    while left:
        each = left.pop()
        if isinstance(each, list):
            left += each
        elif isinstance(each, dict):
            left += each.values()
            size += _described(each)[2] if each.get("type") == KIND and set(each) == PARTS else 0
    return size


def _described(data: Mapping[str, Any]) -> tuple[np.dtype, list[int], int]:
    """Return type, shape and size in bytes, once checked."""
    if set(data) != PARTS:
        raise ValueError(f"the file has an array of {', '.join(data)}; it must have {', '.join(PARTS)}")
    name, shape = data["dtype"], data["shape"]
    if not isinstance(name, str) or DTYPE.fullmatch(name) is None:
        raise ValueError(f"the file has an array of {name!r}; only numbers are data")
    if not isinstance(shape, list) or not all(is_integer(each) and each >= 0 for each in shape):
        raise ValueError(f"the file has an array of shape {shape!r}; a shape is a list of sizes")
    dtype = np.dtype(name)
    return dtype, shape, dtype.itemsize * math.prod(shape)
