"""From {"law": "poisson", "mean": 10} to `Poisson(mean=10)`."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np


def parse(argument: str, spec: Any, laws: Mapping[str, type]) -> Any:
    """Return the law that a keyword argument describes.

    Args:
        argument: its name, for error messages.
        spec: {"law": name, parameter: value, ...}, the name alone, or a law object.
        laws: the allowed laws by name.
    """
    if isinstance(spec, str):
        spec = {"law": spec}
    if not isinstance(spec, Mapping):
        if isinstance(spec, tuple(laws.values())):
            return spec
        raise ValueError(f'{argument} must be a dict such as {{"law": "{next(iter(laws))}"}}, got {spec!r}')
    name = spec.get("law")
    if not isinstance(name, str) or name not in laws:
        raise ValueError(f'{argument}["law"] must be one of {", ".join(laws)}, got {name!r}')
    parameters = {key: value for key, value in spec.items() if key != "law"}
    allowed = [field.name for field in dataclasses.fields(laws[name]) if field.init]
    unknown = sorted(set(parameters) - set(allowed))
    if unknown:
        takes = ", ".join(allowed) or "nothing"
        raise ValueError(f"{argument} {name!r} has no {unknown[0]!r}; it takes {takes}")
    return laws[name](**parameters)


def require(condition: Any, argument: str, expected: str, given: Any) -> None:
    """Raise a ValueError that names the argument, what it must be and what it was."""
    if not condition:
        raise ValueError(f"{argument} must be {expected}, got {given!r}")


def is_number(value: Any) -> bool:
    """Whether a value is a finite real number; True is not one."""
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_) and math.isfinite(value)


def is_integer(value: Any) -> bool:
    """Whether a value is an integer; 3.0 and True are not."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_count(value: Any) -> bool:
    """Whether a value is a positive integer."""
    return is_integer(value) and int(value) > 0
