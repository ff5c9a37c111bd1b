"""Settings, kernels, arrays and options as JSON, exactly.

What JSON has stands for itself; everything else is a dict with a "type". Classes are looked up in a closed
table, so that a file can build nothing but what is named here.
"""

from __future__ import annotations

import base64
import math
import zlib
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

import numpy as np
from sklearn.gaussian_process import kernels
from sklearn.gaussian_process.kernels import Kernel

from bandit_envs.kernels.kernels import OnColumns, TableKernel
from bandit_envs.laws.delays import LAWS, Delay
from bandit_envs.problem.setting import Setting

KERNELS: dict[str, type[Kernel]] = {
    **{
        name: kind
        for name, kind in vars(kernels).items()
        if isinstance(kind, type) and issubclass(kind, Kernel)
    },
    "OnColumns": OnColumns,
    "TableKernel": TableKernel,
}
NUMERIC = "biuf"  # kinds of arrays


def encode(value: Any) -> Any:
    """Return a value as JSON can hold it; raise a ValueError for what cannot be written as data."""
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
    """The inverse of `encode`."""
    if isinstance(data, list):
        return [decode(each) for each in data]
    if not isinstance(data, dict):
        return data
    kind = data.get("type")
    if kind == "float":
        return float(data["value"])
    if kind not in TYPES:
        raise ValueError(f"the file has data of type {kind!r}; this version knows {', '.join(TYPES)}")
    return TYPES[kind][2](data)


def _write_array(array: np.ndarray) -> dict[str, Any]:
    if array.dtype.kind not in NUMERIC:
        raise ValueError(f"cannot save an array of {array.dtype}; only numbers are data")
    packed = base64.b64encode(zlib.compress(np.ascontiguousarray(array).tobytes())).decode()
    return {"dtype": array.dtype.str, "shape": list(array.shape), "zlib": packed}


def _read_array(data: Mapping[str, Any]) -> np.ndarray:
    dtype = np.dtype(data["dtype"])
    if dtype.kind not in NUMERIC:
        raise ValueError(f"the file has an array of {dtype}; only numbers are data")
    raw = zlib.decompress(base64.b64decode(data["zlib"]))
    return np.frombuffer(raw, dtype).reshape(data["shape"]).copy()


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
    if data["class"] not in KERNELS:
        raise ValueError(
            f"the file has a kernel of class {data['class']!r}, which this version does not know"
        )
    return KERNELS[data["class"]](**{key: decode(each) for key, each in data["parameters"].items()})


def _write_setting(setting: Setting) -> dict[str, Any]:
    return {"fields": {each.name: encode(getattr(setting, each.name)) for each in fields(Setting)}}


def _read_setting(data: Mapping[str, Any]) -> Setting:
    return Setting(**{name: decode(each) for name, each in data["fields"].items()})


def _write_delay(law: Delay) -> dict[str, Any]:
    name = next((each for each, kind in LAWS.items() if kind is type(law)), None)
    if name is None:
        raise ValueError(
            f"cannot save the law of delays {law!r}; name its class, bandit_envs.laws.delays.LAWS[name] = ..."
        )
    return {"law": name, "parameters": {each.name: encode(getattr(law, each.name)) for each in fields(law)}}


def _read_delay(data: Mapping[str, Any]) -> Delay:
    if data["law"] not in LAWS:
        raise ValueError(f"the file has a law of delays {data['law']!r}, which this version does not know")
    return LAWS[data["law"]](**{name: decode(each) for name, each in data["parameters"].items()})


def _write_dict(value: dict[Any, Any]) -> dict[str, Any]:
    return {"items": [[encode(key), encode(each)] for key, each in value.items()]}


Codec = tuple[Any, Callable[[Any], dict[str, Any]], Callable[[Mapping[str, Any]], Any]]
TYPES: dict[str, Codec] = {
    "tuple": (
        tuple,
        lambda value: {"items": [encode(each) for each in value]},
        lambda data: tuple(decode(data["items"])),
    ),
    "dict": (dict, _write_dict, lambda data: {decode(key): decode(each) for key, each in data["items"]}),
    "array": (np.ndarray, _write_array, _read_array),
    "kernel": (Kernel, _write_kernel, _read_kernel),
    "setting": (Setting, _write_setting, _read_setting),
    "delay": (Delay, _write_delay, _read_delay),
}
