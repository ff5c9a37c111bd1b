"""Whether data of a file have the types that are annotated, before anything is made of them."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from types import UnionType
from typing import Any, Union, get_args, get_origin

import numpy as np

from bandit_envs.basics.arguments import is_integer


def require_types(what: str, values: Any, types: Mapping[str, Any], all_of_them: bool = True) -> None:
    """Raise a ValueError unless some data are a dict of exactly these fields, each of its type.

    Args:
        what: "a setting", for the message.
        values: the data.
        types: name -> annotation.
        all_of_them: False where fields may be missing.
    """
    if not isinstance(values, dict):
        raise ValueError(f"{what} in the file must be a dict, got {_brief(values)}")
    strangers = sorted(set(values) - set(types), key=str)
    if strangers:
        raise ValueError(f"the file has {what} with {strangers[0]!r}, which this version does not know")
    missing = sorted(set(types) - set(values)) if all_of_them else []
    if missing:
        raise ValueError(f"the file has {what} without {missing[0]!r}")
    for name, value in values.items():
        if not fits(value, types[name]):
            raise ValueError(
                f"{name} of {what} in the file must be {_name(types[name])}, got {_brief(value)}"
            )


def fits(value: Any, hint: Any) -> bool:
    """Whether a value is what an annotation says; lists stand for tuples, and numbers for arrays of them."""
    kind, inside = get_origin(hint), get_args(hint)
    if hint is Any:
        return True
    if kind in (Union, UnionType):
        return any(fits(value, each) for each in inside)
    if kind is np.ndarray:
        return is_numeric(value)
    if kind is list:
        return isinstance(value, list) and all(fits(each, inside[0]) for each in value)
    if kind is tuple:
        return isinstance(value, list | tuple) and _fit_tuple(value, inside)
    if kind is dict:
        return isinstance(value, dict) and all(
            fits(key, inside[0]) and fits(each, inside[1]) for key, each in value.items()
        )
    if hint is float:
        return isinstance(value, Real) and not isinstance(value, bool)
    return is_integer(value) if hint is int else isinstance(value, hint)


def is_numeric(value: Any) -> bool:
    """Whether a value is an array, or lists or tuples of real numbers."""
    if isinstance(value, list | tuple):
        return all(map(is_numeric, value))
    return isinstance(value, np.ndarray | Real)


def _fit_tuple(values: Any, inside: tuple[Any, ...]) -> bool:
    if inside[-1] is Ellipsis:
        return all(fits(each, inside[0]) for each in values)
    return len(values) == len(inside) and all(map(fits, values, inside))


def _name(hint: Any) -> str:
    if get_origin(hint) in (Union, UnionType):
        return " or ".join(map(_name, get_args(hint)))
    if get_origin(hint) is np.ndarray:
        return "numbers"
    plain = isinstance(hint, type) and get_origin(hint) is None
    return hint.__name__.replace("NoneType", "None") if plain else str(hint)


def _brief(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) < 80 else f"{shown[:76]}..."
