"""The parameters of a law are declared beside their defaults, and given in a description of the law.

    mean: float = positive(10.0)

A law that is `Checked` raises one clear error for a parameter that is something else. `parse` makes the law:
{"law": "poisson", "mean": 10} gives `PoissonDelay(mean=10)`.
"""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, field, fields
from typing import Any

from bandit_envs.basics.arguments import ArgumentError, Kind, is_count, is_number, plain, shown, written_as


class Checked:
    """Check the declared parameters of a dataclass, in their order, once it is made."""

    def __post_init__(self) -> None:
        for each in fields(self):  # type: ignore[arg-type]
            if "kind" in each.metadata:
                value = getattr(self, each.name)
                each.metadata["kind"].require(each.name, value)
                object.__setattr__(self, each.name, plain(value))


def parameter(default: Any, expected: str, valid: Callable[[Any], bool]) -> Any:
    """Declare a parameter by its default, what messages say that it must be, and the test of a value."""
    return field(default=default, metadata={"kind": Kind(expected, valid)})


def number(default: float, expected: str, valid: Callable[[float], bool]) -> Any:
    """Declare a finite number that passes a test."""
    return parameter(default, expected, lambda value: is_number(value) and valid(value))


def positive(default: float) -> Any:
    """Declare a positive number."""
    return number(default, "positive", lambda value: value > 0)


def not_negative(default: float) -> Any:
    """Declare a number of at least 0."""
    return number(default, "0 or positive", lambda value: value >= 0)


def probability(default: float) -> Any:
    """Declare a number in [0, 1]."""
    return number(default, "a probability", lambda value: 0 <= value <= 1)


def count(default: int) -> Any:
    """Declare a positive integer."""
    return parameter(default, "a positive integer", is_count)


def switch(default: bool) -> Any:
    """Declare a bool: "no" would count as true."""
    return parameter(default, "True or False", lambda value: isinstance(value, bool))


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
