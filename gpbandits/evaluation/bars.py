"""A bar of the trials that are over, on a terminal or in a notebook."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from bandit_envs.basics.extras import from_extra
from gpbandits.evaluation.progress import Progress


@contextmanager
def bar(total: int) -> Iterator[Progress]:
    """Draw one bar on the error stream, or in the cell.

    Args:
        total: trials of all agents together.
    """
    with from_extra("eval", "progress bars"):
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )
        from rich.progress import Progress as Bars

    counts = BarColumn(), MofNCompleteColumn(), TextColumn("trials")
    times = TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn()
    latest = TextColumn("{task.description}", markup=False)
    with Bars(latest, *counts, *times, console=Console(stderr=True)) as bars:
        task = bars.add_task("", total=total)

        def show(label: str, finished: int) -> None:
            bars.update(task, description=label, advance=finished)

        yield show
