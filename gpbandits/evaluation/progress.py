"""Progress is reported as trials finish, to a function or a bar."""

from collections.abc import Callable
from contextlib import nullcontext
from importlib import import_module
from typing import Any

from bandit_envs.basics.arguments import require

Progress = Callable[[str, int], None]  # called with an agent's label and its number of newly finished trials
BARS = "gpbandits.evaluation.bars"  # imported by name, so that bars are not part of the hash of a cell's code


def reporting(progress: Progress | bool | None, total: int) -> Any:
    """Return a context manager of the function to report to: the given one, a bar for True, or None."""
    usable = progress is None or isinstance(progress, bool) or callable(progress)
    require(usable, "progress", "True, False or a callable (label, trials)", progress)
    if progress is True:
        return import_module(BARS).bar(total)
    return nullcontext(progress if callable(progress) else None)
