"""A progress bar counts finished trials on a terminal or in a notebook."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from bandit_envs.basics.arguments import from_extra
from gpbandits.evaluation.progress import Progress


@contextmanager
def bar(total: int) -> Iterator[Progress]:
    """Draw a bar of so many trials on the error stream or in the cell, and yield what advances it."""
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
    bars = Bars(latest, *counts, *times, console=Console(stderr=True))
    with _drawn(bars) as draw:
        task = bars.add_task("", total=total)

        def show(label: str, finished: int) -> None:
            bars.update(task, description=label, advance=finished)
            draw()

        yield show


@contextmanager
def _drawn(bars: Any) -> Iterator[Callable[[], None]]:
    """Draw rich's bars until the end, and yield the function that redraws them.

    In a notebook rich would need ipywidgets; replacing one display of the cell does not.
    """
    if not bars.console.is_jupyter:
        with bars:
            yield lambda: None  # rich draws ten times a second
        return
    from IPython.display import DisplayHandle

    cell = DisplayHandle()
    cell.display(bars)
    yield lambda: cell.update(bars)
