"""Parts by name or of the user's own, for those who compose an agent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from inspect import signature
from typing import Any, TypeVar

from bandit_envs.basics.arguments import ArgumentError, hint, require, shown, written_as
from bandit_envs.basics.options import require_annotated

from .options import keywords_of

Part = TypeVar("Part")
RNGS = "rngs"  # the argument by which a builder asks for generators


def is_name(given: Any, *names: str) -> bool:
    """Return True for one of these names; what is given may be an array or another object."""
    return isinstance(given, str) and given in names


def name_of(given: Any) -> str | None:
    """Return a name itself, None for a number or an object: options that may be either are parsed here."""
    return given if isinstance(given, str) else None


def name_or_other(argument: str, given: Any, names: Iterable[str], expected: str) -> tuple[str | None, Any]:
    """Return one of some names and None, or None and the number or object; raise for another name."""
    name = name_of(given)
    require(name is None or name in names, argument, expected, given)
    return (None, given) if name is None else (name, None)


def chosen(argument: str, name: str, parts: Mapping[str, Part]) -> Part:
    """Return the part of a name, or raise an error that lists the names."""
    require(is_name(name, *parts), argument, f"one of {', '.join(parts)}", name)
    return parts[name]


def made(
    argument: str, name: str, parts: Mapping[str, Callable[..., Part]], options: Any, *given: Any
) -> Part:
    """Build the named part from the arguments of its kind and its own options."""
    make = chosen(argument, name, parts)
    own, wrong = {} if options is None else options, ""
    if options is not None:
        named = isinstance(own, Mapping) and all(isinstance(key, str) for key in own)
        require(named, f"{argument}_options", "None or a dict of names", options)
    known = keywords_of(make)
    taken = [*own] if known is None else known[len(given) :]
    for each in own:
        if each not in taken:
            wrong = wrong or f"{each!r} is unknown{hint(each, taken)}"
    try:
        signature(make).bind(*given, **own)
    except TypeError as error:  # one is missing, where none is unknown
        wrong = wrong or str(error)
    if wrong:
        words = f"options of {name!r} ({', '.join(taken) or 'it takes none'})"
        raise ArgumentError(f"{argument}_options", f"must be {words}, got {shown(options)}: {wrong}")
    if not own:
        return make(*given)
    with written_as({key: f'{argument}_options["{key}"]' for key in own}):
        require_annotated(make, own)
        return make(*given, **own)


def builder_of(
    argument: str, given: Any, parts: Mapping[str, Callable[..., Any]], options: Any, *of_kind: Any
) -> Any:
    """Return the builder of a part by its name, see `made`, or of the user's own, see `own_builder`."""
    if (name := name_of(given)) is not None:
        return made(argument, name, parts, options, *of_kind)
    return own_builder(argument, given, parts, options)


def own_builder(argument: str, given: Any, names: Mapping[str, Any], options: Any = None) -> Any:
    """Return a builder (model, num_trials) -> part of the user's own, or raise an error that explains it.

    One with an argument `rngs` is given one generator a trial, too; options are bound by `functools.partial`.
    """
    expected = f"a builder (model, num_trials) -> {argument}, such as a class"
    require_no_options(argument, given, options)
    require(callable(given), argument, f"{_among(names)}{expected}", given)
    try:
        signature(given).bind(None, None, **({RNGS: None} if takes_rngs(given) else {}))
    except (TypeError, ValueError) as error:  # another signature, or none
        complaint = f"must be {_among(names)}{expected}, got {shown(given)}: {error}"
        raise ArgumentError(argument, complaint) from None
    return given


def require_called_with(argument: str, given: Any, count: int, expected: str) -> None:
    """Raise unless the object can be called with `count` arguments."""
    require(callable(given), argument, expected, given)
    try:
        signature(given).bind(*range(count))
    except (TypeError, ValueError) as error:
        raise ArgumentError(argument, f"must be {expected}, got {shown(given)}: {error}") from None


def require_no_options(argument: str, given: Any, options: Any) -> None:
    """Raise where options of a named part are given with a part of the user's own."""
    if options is not None:
        raise ValueError(
            f"{argument}_options must be left out where {argument} is not a name, got {options!r} beside "
            f"{given!r}; give them to the part itself, for instance by functools.partial"
        )


def takes_rngs(builder: Callable[..., Any]) -> bool:
    """Return True if a builder asks for generators by an argument `rngs`."""
    return RNGS in signature(builder).parameters


def _among(names: Mapping[str, Any]) -> str:
    return f"one of {', '.join(names)}, or " if names else ""
