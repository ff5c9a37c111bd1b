"""Short names of types in signatures: `Floats` in place of numpy's whole definition."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import sphinx.util.inspect
import sphinx.util.typing

from agents import options
from bandit_envs.basics import types

NAMES = {getattr(types, name): name for name in ("Floats", "Ints", "Bools")}
NAMES |= {options.PerTrial: "PerTrial"}
WHOLE = sphinx.util.typing.stringify_annotation


def short(annotation: Any, *options: Any, **more: Any) -> str:
    """Return the text of an annotation, that of ours by its name; it calls itself for its parts."""
    try:
        name = NAMES.get(annotation)
    except TypeError:  # what cannot be hashed is none of ours
        name = None
    return WHOLE(annotation, *options, **more) if name is None else name


def shorten_types(stringify: Callable[..., str] = short) -> None:
    """Let Sphinx write types by `short`; it has no setting for aliases of evaluated annotations."""
    for name, module in list(sys.modules.items()):
        if name.startswith("sphinx.") and getattr(module, "stringify_annotation", None) is WHOLE:
            module.stringify_annotation = stringify  # type: ignore[attr-defined]
