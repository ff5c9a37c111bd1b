"""From {"law": "poisson", "mean": 10} to `Poisson(mean=10)`."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any


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
