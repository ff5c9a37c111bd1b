"""Parts by name or of the user's own, for those who compose an agent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any, TypeVar

Part = TypeVar("Part")
RNGS = "rngs"  # the argument by which a builder asks for generators


def chosen(argument: str, name: str, parts: Mapping[str, Part]) -> Part:
    """Return the part of a name, or say which there are."""
    if not isinstance(name, str) or name not in parts:
        raise ValueError(f"{argument} must be one of {', '.join(parts)}, got {name!r}")
    return parts[name]


def made(
    argument: str, name: str, parts: Mapping[str, Callable[..., Part]], options: Any, *given: Any
) -> Part:
    """Make the part of a name from what all of its kind are given and its own options."""
    make = chosen(argument, name, parts)
    own = {} if options is None else options
    takes = list(signature(make).parameters)[len(given) :]
    try:
        signature(make).bind(*given, **own)
    except TypeError as error:
        allowed = f"options of {name!r} ({', '.join(takes) or 'it takes none'})"
        raise ValueError(f"{argument}_options must be {allowed}, got {options!r}: {error}") from None
    return make(*given, **own)


def own_builder(argument: str, given: Any, names: Mapping[str, Any], options: Any = None) -> Any:
    """Return a builder (model, num_trials) -> part of the user's own, or say what is wrong with it.

    Args:
        argument: by which it was given.
        given: a class or a function; with an argument `rngs` it is given one generator a trial, too.
        names: what could be given instead.
        options: of a named part; a builder has its own, bound by `functools.partial`.
    """
    expected = f"a builder (model, num_trials) -> {argument}, such as a class"
    require_no_options(argument, given, options)
    if not callable(given):
        raise ValueError(f"{argument} must be {_among(names)}{expected}, got {given!r}")
    try:
        signature(given).bind(None, None, **({RNGS: None} if takes_rngs(given) else {}))
    except TypeError as error:
        raise ValueError(f"{argument} must be {_among(names)}{expected}, got {given!r}: {error}") from None
    return given


def require_no_options(argument: str, given: Any, options: Any) -> None:
    """Raise where options of a named part stand beside a part of the user's own."""
    if options is not None:
        raise ValueError(
            f"{argument}_options must be left out where {argument} is no name, got {options!r} beside "
            f"{given!r}; give them to the part itself, for instance by functools.partial"
        )


def takes_rngs(builder: Callable[..., Any]) -> bool:
    """Whether a builder asks for generators: it has an argument `rngs`."""
    return RNGS in signature(builder).parameters


def _among(names: Mapping[str, Any]) -> str:
    return f"one of {', '.join(names)}, or " if names else ""
