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
from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from inspect import signature
from numbers import Real
from types import UnionType
from typing import Any, NamedTuple, Union, get_args, get_type_hints

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
# Arguments of kernels that are no numbers, and their types.
OF_KERNELS: dict[str, Any] = {
    **dict.fromkeys(("kernel", "k1", "k2"), Kernel),
    "kernels": list[Kernel] | tuple[Kernel, ...],
    "metric": str,
    "pairwise_kernels_kwargs": dict[str, Any] | None,
}
OF_SETTINGS: dict[str, Any] = dict.fromkeys(("kernel", "latent_kernel"), Kernel | None)
hints_of = cache(get_type_hints)


def read_array(data: Mapping[str, Any]) -> np.ndarray:
    """Return the array of some data; unpacking stops where the bytes exceed the declared size."""
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


class NamedClasses(NamedTuple):
    """Classes whose objects a file describes by the name of the class and its arguments."""

    what: str  # in messages, before the name
    base: type
    classes: Mapping[str, type]
    remedy: str  # where a class has no name

    def write(self, made: Any) -> dict[str, Any]:
        """Return the data of an object."""
        name = next((each for each, kind in self.classes.items() if kind is type(made)), None)
        if name is None:
            kind = type(made).__name__
            raise ValueError(f"cannot save {self.what} {made!r} of class {kind}; {self.remedy}")
        arguments = {each: encode(getattr(made, each)) for each in types_of(type(made))}
        return {"class": name, "arguments": arguments}

    def read(self, data: Mapping[str, Any]) -> Any:
        """Return the object of its data."""
        name, arguments = data["class"], {each: decode(value) for each, value in data["arguments"].items()}
        if name not in self.classes:
            raise ValueError(f"the file has {self.what} {name!r}, which this version does not know")
        require_types(f"{self.what} {name}", arguments, types_of(self.classes[name]), all_of_them=False)
        return self.classes[name](**arguments)


def types_of(kind: type) -> dict[str, Any]:
    """Return the arguments of a class that a file may name, and their types."""
    if issubclass(kind, Kernel):
        names = signature(kind).parameters
        return {name: BOUNDS if name.endswith("_bounds") else OF_KERNELS.get(name, Floats) for name in names}
    hints = hints_of(kind) | (OF_SETTINGS if kind is Setting else {})
    return {each.name: hints[each.name] for each in fields(kind)}


def _laws(what: str, module: Any, base: type) -> NamedClasses:
    remedy = f"name its class, {module.__name__}.LAWS[name] = ..."
    return NamedClasses(f"a law of {what}", base, module.LAWS, remedy)


OBJECTS = {
    "kernel": NamedClasses("a kernel", Kernel, KERNELS, "use one of scikit-learn, OnColumns or TableKernel"),
    "setting": NamedClasses("a", Setting, {"setting": Setting}, "use Setting itself"),
    "delay": _laws("delays", delays, delays.Delay),
    "movement": _laws("movement", movement, movement.Movement),
    "outcome": _laws("outcomes", outcomes, outcomes.OutcomeLaw),
    "play_costs": _laws("play costs", play_costs, play_costs.PlayCosts),
}


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
    if isinstance(value, tuple):
        return {"type": "tuple", "items": [encode(each) for each in value]}
    if isinstance(value, dict):
        return {"type": "dict", "items": [[encode(key), encode(each)] for key, each in value.items()]}
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in NUMERIC:
            raise ValueError(f"cannot save an array of {value.dtype}; only numbers are data")
        packed = base64.b64encode(zlib.compress(np.ascontiguousarray(value).tobytes())).decode()
        return {"type": KIND, "dtype": value.dtype.str, "shape": list(value.shape), "zlib": packed}
    for kind, named in OBJECTS.items():
        if isinstance(value, named.base):
            return {"type": kind, **named.write(value)}
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
    if kind == "tuple":
        return tuple(decode(data["items"]))
    if kind == "dict":
        return {decode(key): decode(each) for key, each in data["items"]}
    if kind == KIND:
        return read_array(data)
    if not isinstance(kind, str) or kind not in OBJECTS:
        known = ", ".join(("tuple", "dict", KIND, *OBJECTS))
        raise ValueError(f"the file has data of type {kind!r}; this version reads {known}")
    return OBJECTS[kind].read(data)


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
    if isinstance(kind, type) and issubclass(kind, tuple) and kind is not tuple:  # a NamedTuple
        kind, inside = tuple, tuple(hints_of(kind).values())
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
    plain = list if plain_of(hinted) is tuple else plain_of(hinted)
    return IN_FILES[plain].expected if plain in IN_FILES else getattr(plain, "__name__", str(hinted))


def _is_numeric(value: Any) -> bool:
    """Return whether a value is an array, a number, or lists or tuples of these."""
    return (
        all(map(_is_numeric, value))
        if isinstance(value, list | tuple)
        else isinstance(value, np.ndarray | Real)
    )


# Files hold integers of any size, such as states of generators, and a number where all of an array are alike.
IN_FILES = KINDS | {int: Option("an integer", is_integer), np.ndarray: Option("numbers", _is_numeric)}
