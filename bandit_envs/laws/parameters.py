"""Laws by their descriptions: {"law": "poisson", "mean": 10} gives `PoissonDelay(mean=10)`."""

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

from bandit_envs.basics.arguments import ArgumentError, shown, written_as


def parse(argument: str, spec: Any, laws: Mapping[str, type], kind: type | None = None) -> Any:
    """Return the law described by {"law": name, parameter: value, ...}, by its name alone or by a law.

    A law is one of the named ones, or any of their `kind`, if that is given.
    """
    if isinstance(spec, str):
        spec = {"law": spec}
    if not isinstance(spec, Mapping):
        if isinstance(spec, (*laws.values(), *([kind] if kind else []))):
            return spec
        such = f'{{"law": "{next(iter(laws))}"}}'
        raise ArgumentError(argument, f"must be a dict such as {such}, got {shown(spec)}")
    name = spec.get("law")
    if not isinstance(name, str) or name not in laws:
        complaint = f"must be one of {', '.join(laws)}, got {shown(name)}"
        raise ArgumentError(f'{argument}["law"]', complaint)
    parameters = {key: value for key, value in spec.items() if key != "law"}
    given = {each.name: each for each in fields(laws[name]) if each.init}
    for key in parameters:
        if key not in given:
            takes = ", ".join(given) or "nothing"
            raise ValueError(f"{argument} {name!r} has no {key!r}; it takes {takes}")
    for key, each in given.items():
        if key not in parameters and each.default is MISSING and each.default_factory is MISSING:
            raise ArgumentError(f'{argument}["{key}"]', f"must be given, {name!r} has no default for it")
    with written_as({key: f'{argument}["{key}"]' for key in parameters}):
        return laws[name](**parameters)
