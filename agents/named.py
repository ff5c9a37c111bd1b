"""Parts by name or of the user's own, for those who compose an agent."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any, TypeVar

from bandit_envs.basics.arguments import ArgumentError, require, shown, written_as

from .options import require_annotated

Part = TypeVar("Part")
# As Python says of an option that nobody takes, or that the algorithm itself decides, however deep the call.
UNEXPECTED = re.compile(r"(?:unexpected keyword argument|got multiple values for argument) '(\w+)'")
RNGS = "rngs"  # the argument by which a builder asks for generators


def chosen(argument: str, name: str, parts: Mapping[str, Part]) -> Part:
    """Return the part of a name, or say which there are."""
    require(isinstance(name, str) and name in parts, argument, f"one of {', '.join(parts)}", name)
    return parts[name]


def made(
    argument: str, name: str, parts: Mapping[str, Callable[..., Part]], options: Any, *given: Any
) -> Part:
    """Make the part of a name from what all of its kind are given and its own options."""
    make = chosen(argument, name, parts)
    own = {} if options is None else options
    named = isinstance(own, Mapping) and all(isinstance(key, str) for key in own)
    require(named, f"{argument}_options", "None or a dict of names", options)
    takes = ", ".join(list(signature(make).parameters)[len(given) :]) or "it takes none"
    try:
        signature(make).bind(*given, **own)
        with written_as({key: f'{argument}_options["{key}"]' for key in own}):
            require_annotated(make, own)
            return make(*given, **own)
    except TypeError as error:
        if not _refuses(error, own):
            raise
        complaint = f"must be options of {name!r} ({takes}), got {shown(options)}: {error}"
        raise ArgumentError(f"{argument}_options", complaint) from None


def _refuses(error: TypeError, options: Mapping[str, Any]) -> bool:
    """Whether it is about an option that is not taken, or one that is missing, and no error of a part."""
    stranger = UNEXPECTED.search(str(error))
    return str(error).startswith("missing a required argument") or (
        stranger is not None and stranger[1] in options
    )


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
    require(callable(given), argument, f"{_among(names)}{expected}", given)
    try:
        signature(given).bind(None, None, **({RNGS: None} if takes_rngs(given) else {}))
    except (TypeError, ValueError) as error:  # it takes something else, or cannot say what
        complaint = f"must be {_among(names)}{expected}, got {shown(given)}: {error}"
        raise ArgumentError(argument, complaint) from None
    return given


def require_called_with(argument: str, given: Any, count: int, expected: str) -> None:
    """Raise unless it is called with so many arguments."""
    require(callable(given), argument, expected, given)
    try:
        signature(given).bind(*range(count))
    except (TypeError, ValueError) as error:
        raise ArgumentError(argument, f"must be {expected}, got {shown(given)}: {error}") from None


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
