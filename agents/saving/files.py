"""Files of JSON with a format, a version and a digest, and what is written in them as data, exactly.

Values of JSON's own types are kept; everything else is a dict with a "type". Classes are looked up in a
closed table, so that a file can build only the classes named here, and the types of their arguments are
checked; arrays unpack to no more than they say. Writes are atomic.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import os
import re
import zlib
from binascii import Error as NotBase64
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
from sklearn.gaussian_process import kernels
from sklearn.gaussian_process.kernels import Kernel

from bandit_envs.basics.arguments import is_count, is_integer, require
from bandit_envs.basics.files import sweep, write_whole
from bandit_envs.basics.types import Floats
from bandit_envs.kernels.kernels import LinkedKernel, OnColumns, TableKernel
from bandit_envs.laws import delays, movement, outcomes, play_costs
from bandit_envs.problem.setting import Setting

from ..options import require_types

NUMERIC = "biuf"  # dtype kinds that are numbers
DTYPE = re.compile(rf"[<>|=]?[{NUMERIC}]\d{{1,2}}")  # numpy's names of these types
KIND = "array"  # the "type" field of an array's data
OF_ARRAYS = {"type", "dtype", "shape", "zlib"}
KERNELS: dict[str, type[Kernel]] = {
    **{
        name: kind
        for name, kind in vars(kernels).items()
        if isinstance(kind, type) and issubclass(kind, Kernel)
    },
    "LinkedKernel": LinkedKernel,
    "OnColumns": OnColumns,
    "TableKernel": TableKernel,
}
NOT_FINITE = ("inf", "-inf", "nan")
BOUNDS = str | Floats  # "fixed", or (low, high)
# Parameters of kernels that are no numbers, and their types.
PARAMETERS: dict[str, Any] = {
    **dict.fromkeys(("kernel", "k1", "k2"), Kernel),
    "kernels": list[Kernel] | tuple[Kernel, ...],
    "metric": str,
    "pairwise_kernels_kwargs": dict[str, Any] | None,
}
FIELDS = {**get_type_hints(Setting), **dict.fromkeys(("kernel", "latent_kernel"), Kernel | None)}

Codec = tuple[Any, Callable[[Any], dict[str, Any]], Callable[[Mapping[str, Any]], Any]]


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
            size += _described(each)[2] if each.get("type") == KIND and set(each) == OF_ARRAYS else 0
    return size


def _described(data: Mapping[str, Any]) -> tuple[np.dtype, list[int], int]:
    """Return type, shape and size in bytes, once checked."""
    if set(data) != OF_ARRAYS:
        raise ValueError(f"the file has an array of {', '.join(data)}; it must have {', '.join(OF_ARRAYS)}")
    name, shape = data["dtype"], data["shape"]
    if not isinstance(name, str) or DTYPE.fullmatch(name) is None:
        raise ValueError(f"the file has an array of {name!r}; only numbers are data")
    if not isinstance(shape, list) or not all(is_integer(each) and each >= 0 for each in shape):
        raise ValueError(f"the file has an array of shape {shape!r}; a shape is a list of sizes")
    dtype = np.dtype(name)
    return dtype, shape, dtype.itemsize * math.prod(shape)


def encode(value: Any) -> Any:
    """Return a value in JSON's types; raise a ValueError if it cannot be written as data."""
    if value is None or isinstance(value, bool | str) or type(value) is int:
        return value
    if isinstance(value, np.generic):
        return encode(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else {"type": "float", "value": str(value)}
    if isinstance(value, list):
        return [encode(each) for each in value]
    for kind, (known, write, _) in TYPES.items():
        if isinstance(value, known):
            return {"type": kind, **write(value)}
    raise ValueError(
        f"cannot save {value!r}: it must be a number, text, a list, a dict, an array, a Setting, a law of "
        "delays or a kernel of scikit-learn or of gpbandits; give options by name or as numbers"
    )


def decode(data: Any) -> Any:
    """Invert `encode`."""
    if isinstance(data, list):
        return [decode(each) for each in data]
    if not isinstance(data, dict):
        return data
    kind = data.get("type")
    if kind == "float" and data["value"] in NOT_FINITE:
        return float(data["value"])
    if not isinstance(kind, str) or kind not in TYPES:
        raise ValueError(f"the file has data of type {kind!r}; this version reads {', '.join(TYPES)}")
    return TYPES[kind][2](data)


def _write_kernel(kernel: Kernel) -> dict[str, Any]:
    name = type(kernel).__name__
    if KERNELS.get(name) is not type(kernel):
        raise ValueError(
            f"cannot save the kernel {kernel!r} of class {name}; use kernels of scikit-learn, OnColumns "
            "or TableKernel"
        )
    parameters = kernel.get_params(deep=False)
    return {"class": name, "parameters": {key: encode(each) for key, each in parameters.items()}}


def _read_kernel(data: Mapping[str, Any]) -> Kernel:
    name, parameters = data["class"], _decoded(data["parameters"])
    if name not in KERNELS:
        raise ValueError(f"the file has a kernel of class {name!r}, which this version does not know")
    types = {each: _type_of_parameter(each) for each in signature(KERNELS[name]).parameters}
    require_types(f"a kernel {name}", parameters, types, all_of_them=False)
    return KERNELS[name](**parameters)


def _type_of_parameter(name: str) -> Any:
    return BOUNDS if name.endswith("_bounds") else PARAMETERS.get(name, Floats)


def _write_setting(setting: Setting) -> dict[str, Any]:
    return {"fields": {each.name: encode(getattr(setting, each.name)) for each in fields(Setting)}}


def _read_setting(data: Mapping[str, Any]) -> Setting:
    given = _decoded(data["fields"])
    require_types("a setting", given, FIELDS, all_of_them=False)
    return Setting(**given)


def _laws(what: str, module: Any, base: type) -> Codec:
    """Return the functions that write laws of one kind by their names, and read them."""

    def write(law: Any) -> dict[str, Any]:
        name = next((each for each, kind in module.LAWS.items() if kind is type(law)), None)
        if name is None:
            raise ValueError(
                f"cannot save the law of {what} {law!r}; name its class, {module.__name__}.LAWS[name] = ..."
            )
        return {
            "law": name,
            "parameters": {each.name: encode(getattr(law, each.name)) for each in fields(law)},
        }

    def read(data: Mapping[str, Any]) -> Any:
        name, parameters = data["law"], _decoded(data["parameters"])
        if name not in module.LAWS:
            raise ValueError(f"the file has a law of {what} {name!r}, which this version does not know")
        kind = module.LAWS[name]
        hints = get_type_hints(kind)
        types = {each.name: hints[each.name] for each in fields(kind)}
        require_types(f"a law of {what} {name!r}", parameters, types, all_of_them=False)
        return kind(**parameters)

    return base, write, read


def _decoded(data: dict[str, Any]) -> dict[str, Any]:
    return {name: decode(each) for name, each in data.items()}


def _write_dict(value: dict[Any, Any]) -> dict[str, Any]:
    return {"items": [[encode(key), encode(each)] for key, each in value.items()]}


TYPES: dict[str, Codec] = {
    "tuple": (
        tuple,
        lambda value: {"items": [encode(each) for each in value]},
        lambda data: tuple(decode(data["items"])),
    ),
    "dict": (dict, _write_dict, lambda data: {decode(key): decode(each) for key, each in data["items"]}),
    KIND: (np.ndarray, write_array, read_array),
    "kernel": (Kernel, _write_kernel, _read_kernel),
    "setting": (Setting, _write_setting, _read_setting),
    "delay": _laws("delays", delays, delays.Delay),
    "movement": _laws("movement", movement, movement.Movement),
    "outcome": _laws("outcomes", outcomes, outcomes.OutcomeLaw),
    "play_costs": _laws("play costs", play_costs, play_costs.PlayCosts),
}


VERSION = 2
MAX_BYTES = 2**29  # limit of a file, and of all its arrays unpacked
FORMATS = {  # format -> module and class that load it
    "gpbandits agent": ("agents.saving.recorded", "Saving"),
    "gpbandits tuner": ("agents.tuning.tuner", "Tuner"),
    "gpbandits preference tuner": ("agents.tuning.preferences", "PreferenceTuner"),
}
PARTS = {"format", "version", "sha256", "content"}
# Errors that parsing raises on content of another structure.
STRANGE = ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, StopIteration, TypeError
AGAIN = "take an earlier copy, or save again"


def write(path: str | os.PathLike[str], form: str, content: dict[str, Any]) -> None:
    """Write JSON content; an interruption or a power cut leaves the old file unchanged."""
    head = {"format": form, "version": VERSION, "sha256": _digest(form, content)}
    sweep(Path(path).parent, Path(path).name)
    write_whole(path, json.dumps({**head, "content": content}, allow_nan=False).encode())


def read(path: str | os.PathLike[str], *forms: str, max_bytes: int = MAX_BYTES) -> dict[str, Any]:
    """Return the content of a file in one of some formats; a ValueError names any other format."""
    whole = _opened(path, forms, max_bytes)
    content = whole["content"]
    with parsing(path):
        if whole["sha256"] != _digest(whole["format"], content):
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
    require(is_count(max_bytes), "max_bytes", "a positive integer", max_bytes)
    with Path(path).open("rb") as file:
        _require_small(path, size := os.fstat(file.fileno()).st_size, max_bytes)
        raw = file.read(size + 1)
    try:
        whole = json.loads(raw.decode(), parse_constant=_no_number)
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


def _digest(form: str, content: dict[str, Any]) -> str:
    """Return the digest of the content; it detects damage, but no deliberate forgery."""
    text = json.dumps([form, VERSION, content], allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _require_small(path: str | os.PathLike[str], size: int, max_bytes: int) -> None:
    if size > max_bytes:
        raise ValueError(
            f"{path} takes more than {max_bytes} bytes; pass max_bytes={size} or more to load it all the same"
        )


def _no_number(text: str) -> Any:
    raise ValueError(f"{text} is no number of JSON")
