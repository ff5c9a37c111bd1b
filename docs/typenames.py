"""Short names of types in signatures: `Floats` in place of numpy's whole definition."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import sphinx.util.inspect
import sphinx.util.typing

from agents import options
from bandit_envs.basics import types
from bandit_envs.basics.arguments import Option

NAMES = {getattr(types, name): name for name in ("Floats", "Ints", "Bools")}
NAMES |= {options.PerTrial: "PerTrial"}
WHOLE = sphinx.util.typing.stringify_annotation


def short(annotation: Any, *options: Any, **more: Any) -> str:
    """Return the text of an annotation, that of ours by its name; it calls itself for its parts.

    What it declares besides a type, the range of an option and its remedy, is for messages.
    """
    try:
        name = NAMES.get(annotation)
    except TypeError:  # what cannot be hashed is none of ours
        name = None
    if name is None and any(isinstance(each, Option) for each in getattr(annotation, "__metadata__", ())):
        return short(annotation.__origin__, *options, **more)
    return WHOLE(annotation, *options, **more) if name is None else name


def shorten_types(stringify: Callable[..., str] = short) -> None:
    """Let Sphinx write types by `short`; it has no setting for aliases of evaluated annotations."""
    for name, module in list(sys.modules.items()):
        if name.startswith("sphinx.") and getattr(module, "stringify_annotation", None) is WHOLE:
            module.stringify_annotation = stringify  # type: ignore[attr-defined]
