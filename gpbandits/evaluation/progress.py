"""Who is told when trials are over."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from importlib import import_module
from typing import Any

from bandit_envs.basics.arguments import require

Progress = Callable[[str, int], None]  # an agent's label and the number of trials that it has just finished
BARS = "gpbandits.evaluation.bars"  # by name: what shows is no part of what plays, and may change alone


def reporting(progress: Progress | bool | None, total: int) -> Any:
    """A context with what is called as trials end: what was given, a bar for True, or None."""
    usable = progress is None or isinstance(progress, bool) or callable(progress)
    require(usable, "progress", "True, False or a callable (label, trials)", progress)
    if progress is True:
        return import_module(BARS).bar(total)
    return nullcontext(progress if callable(progress) else None)
