"""Settings, kernels, arrays and options as JSON, exactly; arrays unpack to no more than they say.

Values of JSON's own types are kept; everything else is a dict with a "type". Classes are looked up in a
closed table, so that a file can build only the classes named here, and the types of their arguments are
checked.
"""

from __future__ import annotations

import base64
import math
import re
import zlib
from collections.abc import Callable, Mapping
from dataclasses import fields
from inspect import signature
from numbers import Real
from types import UnionType
from typing import Any, Union, get_args, get_type_hints

import numpy as np
from sklearn.gaussian_process import kernels
from sklearn.gaussian_process.kernels import Kernel

from bandit_envs.basics.arguments import is_integer, shown
from bandit_envs.basics.options import KINDS, Option, alternatives, named_of, plain_of
from bandit_envs.basics.types import Floats
from bandit_envs.kernels.kernels import LinkedKernel, OnColumns, TableKernel
from bandit_envs.laws import delays, movement, outcomes, play_costs
from bandit_envs.problem.setting import Setting

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
        if isinstance(each, dict):
            size += _described(each)[2] if each.get("type") == KIND and set(each) == OF_ARRAYS else 0
            left += each.values()
        elif isinstance(each, list):
            left += each
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
    types = {
        each: BOUNDS if each.endswith("_bounds") else PARAMETERS.get(each, Floats)
        for each in signature(KERNELS[name]).parameters
    }
    require_types(f"a kernel {name}", parameters, types, all_of_them=False)
    return KERNELS[name](**parameters)


def _fields(made: Any) -> dict[str, Any]:
    """Return the data of the fields of a dataclass."""
    return {each.name: encode(getattr(made, each.name)) for each in fields(made)}


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
        return {"law": name, "parameters": _fields(law)}

    def read(data: Mapping[str, Any]) -> Any:
        name, parameters = data["law"], _decoded(data["parameters"])
        if name not in module.LAWS:
            raise ValueError(f"the file has a law of {what} {name!r}, which this version does not know")
        kind, hints = module.LAWS[name], get_type_hints(module.LAWS[name])
        types = {each.name: hints[each.name] for each in fields(kind)}
        require_types(f"a law of {what} {name!r}", parameters, types, all_of_them=False)
        return kind(**parameters)

    return base, write, read


def _decoded(data: dict[str, Any]) -> dict[str, Any]:
    return {name: decode(each) for name, each in data.items()}


TYPES: dict[str, Codec] = {
    "tuple": (
        tuple,
        lambda value: {"items": [encode(each) for each in value]},
        lambda data: tuple(decode(data["items"])),
    ),
    "dict": (
        dict,
        lambda value: {"items": [[encode(key), encode(each)] for key, each in value.items()]},
        lambda data: {decode(key): decode(each) for key, each in data["items"]},
    ),
    KIND: (np.ndarray, write_array, read_array),
    "kernel": (Kernel, _write_kernel, _read_kernel),
    "setting": (Setting, lambda setting: {"fields": _fields(setting)}, _read_setting),
    "delay": _laws("delays", delays, delays.Delay),
    "movement": _laws("movement", movement, movement.Movement),
    "outcome": _laws("outcomes", outcomes, outcomes.OutcomeLaw),
    "play_costs": _laws("play costs", play_costs, play_costs.PlayCosts),
}


def require_types(what: str, values: Any, types: Mapping[str, Any], all_of_them: bool = True) -> None:
    """Raise a ValueError unless some data of a file are a dict of exactly these fields, each of its type.

    Lists become tuples; without `all_of_them` fields may be missing.
    """
    if not isinstance(values, dict):
        raise ValueError(f"{what} in the file must be a dict, got {shown(values)}")
    strangers = sorted(set(values) - set(types), key=str)
    if strangers:
        raise ValueError(f"the file has {what} with {strangers[0]!r}, which this version does not know")
    missing = sorted(set(types) - set(values)) if all_of_them else []
    if missing:
        raise ValueError(f"the file has {what} without {missing[0]!r}")
    for name, value in values.items():
        if not _fits(value, types[name]):
            words = " or ".join(_words(each) for each in alternatives(types[name]))
            raise ValueError(f"{name} of {what} in the file must be {words}, got {shown(value)}")


def _fits(value: Any, hinted: Any) -> bool:
    """Return whether a value of a file, with all that is in it, is what an annotation says."""
    kind, inside = plain_of(hinted), get_args(named_of(hinted))
    if kind in (Union, UnionType):
        return any(_fits(value, each) for each in inside)
    if kind in (list, tuple):
        if not isinstance(value, list if kind is list else list | tuple):
            return False
        each_as = inside[:1] * len(value) if kind is list or inside[-1] is Ellipsis else inside
        return len(value) == len(each_as) and all(map(_fits, value, each_as))
    if kind is dict:
        rows = value.items() if isinstance(value, dict) else [(None, None)]
        return all(_fits(key, inside[0]) and _fits(each, inside[1]) for key, each in rows)
    return hinted is Any or (IN_FILES[kind].holds(value) if kind in IN_FILES else isinstance(value, kind))


def _words(hinted: Any) -> str:
    plain = plain_of(hinted)
    return IN_FILES[plain].expected if plain in IN_FILES else getattr(hinted, "__name__", str(hinted))


def _is_numeric(value: Any) -> bool:
    """Return whether a value is an array, a number, or lists or tuples of these."""
    return (
        all(map(_is_numeric, value))
        if isinstance(value, list | tuple)
        else isinstance(value, np.ndarray | Real)
    )


# Files hold integers of any size, such as states of generators, and a number where all of an array are alike.
IN_FILES = KINDS | {int: Option("an integer", is_integer), np.ndarray: Option("numbers", _is_numeric)}
