"""The command `exam` plays tests of others and prints their published numbers beside ours."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import Progress
from rich.text import Text

from bandit_envs.basics.arguments import hint
from gpbandits.commands.terminal import console, escaped

if TYPE_CHECKING:
    from gpbandits.exam import ExamReport, Sitting


def _parts(incomplete: str) -> list[str]:
    from gpbandits.exam import PARTS

    return [each for each in PARTS if each.startswith(incomplete)]


def exam(
    parts: Annotated[
        list[str] | None,
        typer.Argument(
            help="Parts: hpo-b, crossed-barrel, boxes, real; by default a quick choice of the first three.",
            autocompletion=_parts,
        ),
    ] = None,
    agent: Annotated[
        list[str] | None,
        typer.Option(
            help="Who is examined: tuner, a registered agent, or a class such as mine:Agent, with options as "
            "JSON behind it; may be repeated. By default random and tuner."
        ),
    ] = None,
    out: Annotated[
        Path, typer.Option(help="Folder of the results, tables and figures; its cells are not played again.")
    ] = Path("results/exam"),
    seeds: Annotated[int | None, typer.Option(min=1, help="Seeds; by default those of each part.")] = None,
    questions: Annotated[int | None, typer.Option(min=1, help="Most questions; by default all.")] = None,
    workers: Annotated[int, typer.Option(min=1, help="Number of processes.")] = 1,
) -> None:
    """Play tests of others, and print their published numbers beside ours or those of your agent."""
    from gpbandits.exam import PARTS, QUICK, Sitting

    for name in parts or ():
        if name not in PARTS:
            choices = ", ".join(PARTS)
            raise ValueError(f"unknown part {name!r}{hint(name, PARTS)}; choose one of {choices}")
    sitting = Sitting(out, tuple(agent or ()), seeds, questions, not parts, workers, _bar)
    _ = sitting.entrants  # raises before anything is played
    failures = []
    for name in dict.fromkeys(parts or QUICK):
        report = _held(name, sitting)
        failures += report.failures
        for table in report.tables:
            console().print(table, "")
        _keep(report, out)
    console().print(f"Results, tables and figures in {out}.", soft_wrap=True)
    if failures:
        errors = console(stderr=True)
        for cell, traceback in failures:
            errors.print(Text(escaped(f"\n{cell} failed:\n{traceback}")))
        errors.print(f"{len(failures)} cells failed; run the command again to repeat only these.")
        raise typer.Exit(1)


def _held(name: str, sitting: "Sitting") -> "ExamReport":
    from gpbandits.commands.progress import ENDED, INTERRUPTED, EndedError, ended_by_signal
    from gpbandits.exam import PARTS

    try:
        with ended_by_signal():
            return PARTS[name].hold(sitting)
    except KeyboardInterrupt as interrupt:
        console().print("Interrupted: finished cells are kept; run the command again to continue.")
        raise typer.Exit(ENDED if isinstance(interrupt, EndedError) else INTERRUPTED) from None


@contextmanager
def _bar(title: str, total: int) -> Iterator[Callable[[], None]]:
    """Show how many cells are played, and the remaining time."""
    from gpbandits.evaluation.progress import bar_columns

    with Progress(*bar_columns("cells"), console=console()) as bars:
        task = bars.add_task(title, total=total)
        yield lambda: bars.advance(task)


def _keep(report: "ExamReport", folder: Path) -> None:
    """Write tables and a figure beside the rows."""
    from gpbandits.report.page import write_table

    for table in report.tables:
        write_table(table, folder / "tables", table.name)
    if report.figure is not None:
        report.figure.savefig(folder / f"{report.tables[0].name}.png", dpi=120)
