"""Progress is reported as trials finish, to a function or a bar on a terminal or in a notebook."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from bandit_envs.basics.arguments import from_extra, require

Progress = Callable[[str, int], None]  # called with an agent's label and its number of newly finished trials


def reporting(progress: Progress | bool | None, total: int) -> Any:
    """Return a context manager of the function to report to: the given one, a bar for True, or None."""
    usable = progress is None or isinstance(progress, bool) or callable(progress)
    require(usable, "progress", "True, False or a callable (label, trials)", progress)
    if progress is True:
        return _bar(total)
    return nullcontext(progress if callable(progress) else None)


@contextmanager
def _bar(total: int) -> Iterator[Progress]:
    """Draw a bar of so many trials on the error stream or in the cell, and yield what advances it."""
    with from_extra("eval", "progress bars"):
        from rich.console import Console
        from rich.progress import Progress as Bars

    bars = Bars(*bar_columns("trials"), console=Console(stderr=True))
    with _drawn(bars) as draw:
        task = bars.add_task("", total=total)

        def show(label: str, finished: int) -> None:
            bars.update(task, description=label, advance=finished)
            draw()

        yield show


def bar_columns(unit: str) -> list[Any]:
    """Return the columns of a bar: its description, the number of finished units, and the remaining time."""
    from rich import progress

    counts = progress.BarColumn(), progress.MofNCompleteColumn(), progress.TextColumn(unit)
    times = progress.TimeElapsedColumn(), progress.TextColumn("left"), progress.TimeRemainingColumn()
    return [progress.TextColumn("{task.description}", markup=False), *counts, *times]


@contextmanager
def _drawn(bars: Any) -> Iterator[Callable[[], None]]:
    """Draw rich's bars, and yield their redrawing: one display of a cell, where rich needs ipywidgets."""
    if not bars.console.is_jupyter:
        with bars:
            yield lambda: None  # rich draws ten times a second
        return
    from IPython.display import DisplayHandle

    cell = DisplayHandle()
    cell.display(bars)
    yield lambda: cell.update(bars)
