"""Which arguments of functions and fields of dataclasses are declared as one number a trial."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import is_dataclass
from inspect import Parameter, signature
from types import SimpleNamespace
from typing import Any, get_args, get_type_hints

from ..validation import ONE_A_TRIAL


def is_per_trial(owner: Any, name: str) -> bool:
    """Whether an argument is annotated as `PerTrial`, alone or in a union such as `PerTrial | None`.

    Args:
        owner: a function, a class or a dataclass.
        name: of its argument or field.
    """
    written, names = _annotation(owner, name)
    try:
        stand_in = SimpleNamespace(__annotations__={name: written})
        hint = get_type_hints(stand_in, dict(names), include_extras=True)[name]
    except NameError as error:
        raise ValueError(
            f"the annotation {written!r} of {name}, which is given an array, must have a meaning at run "
            f"time, but {error}; import it outside `if TYPE_CHECKING`"
        ) from None
    return any(ONE_A_TRIAL in getattr(each, "__metadata__", ()) for each in (hint, *get_args(hint)))


def _annotation(owner: Any, name: str) -> tuple[Any, Mapping[str, Any]]:
    """What is written at an argument, perhaps as text, and the names that it may use."""
    if isinstance(owner, type) and is_dataclass(owner):
        home = next(kind for kind in owner.__mro__ if name in vars(kind).get("__annotations__", {}))
        return home.__annotations__[name], vars(sys.modules[home.__module__])
    parameters = signature(owner).parameters
    others = [each for each in parameters.values() if each.kind is Parameter.VAR_KEYWORD]
    found = parameters[name] if name in parameters else others[0]
    written = Any if found.annotation is Parameter.empty else found.annotation
    body = owner.__init__ if isinstance(owner, type) else owner
    return written, getattr(body, "__globals__", {})
