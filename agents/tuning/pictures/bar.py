"""The bar of a run of experiments."""

from __future__ import annotations

import sys
from typing import Any


def bar_of(total: int) -> Any:
    """Return a bar of rich of so many experiments on the error stream, which fits 80 columns."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        *(BarColumn(20), MofNCompleteColumn(), TextColumn("{task.description}", markup=False)),
        *(TextColumn("left"), TimeRemainingColumn()),
    )
    # What f prints goes above the bar, unless it is written to a file.
    bar = Progress(*columns, console=Console(stderr=True), redirect_stdout=sys.stdout.isatty())
    bar.add_task("no value", total=total)
    return bar
