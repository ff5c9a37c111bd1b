"""Build a law from its description: {"law": "poisson", "mean": 10} gives `Poisson(mean=10)`."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from bandit_envs.basics.arguments import ArgumentError, shown, written_as


def parse(argument: str, spec: Any, laws: Mapping[str, type]) -> Any:
    """Return the law described by {"law": name, parameter: value, ...}, by its name alone or by a law."""
    if isinstance(spec, str):
        spec = {"law": spec}
    if not isinstance(spec, Mapping):
        if isinstance(spec, tuple(laws.values())):
            return spec
        such = f'{{"law": "{next(iter(laws))}"}}'
        raise ArgumentError(argument, f"must be a dict such as {such}, got {shown(spec)}")
    name = spec.get("law")
    if not isinstance(name, str) or name not in laws:
        complaint = f"must be one of {', '.join(laws)}, got {shown(name)}"
        raise ArgumentError(f'{argument}["law"]', complaint)
    parameters = {key: value for key, value in spec.items() if key != "law"}
    allowed = [field.name for field in dataclasses.fields(laws[name]) if field.init]
    unknown = [key for key in parameters if key not in allowed]
    if unknown:
        takes = ", ".join(allowed) or "nothing"
        raise ValueError(f"{argument} {name!r} has no {unknown[0]!r}; it takes {takes}")
    for needed in _needed(laws[name]):
        if needed not in parameters:
            raise ArgumentError(f'{argument}["{needed}"]', f"must be given, {name!r} has no default for it")
    with written_as({key: f'{argument}["{key}"]' for key in parameters}):
        return laws[name](**parameters)


def _needed(law: type) -> list[str]:
    none = dataclasses.MISSING
    fields = [field for field in dataclasses.fields(law) if field.init]
    return [field.name for field in fields if field.default is none and field.default_factory is none]
