"""What the command line can do."""

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from bandit_envs.catalogue import agent_rows, environment_rows
from bandit_envs.evaluation.result import Metric, Result, Scale
from bandit_envs.experiments import Outcome, Store, Study, check_study, load_study
from bandit_envs.experiments import run as run_study

FIGURES: dict[str, tuple[Scale, Metric]] = {
    "regret-linear": ("linear", "cumulative"),
    "regret-log-log": ("log-log", "cumulative"),
    "simple-regret": ("log-log", "simple"),
}
FIGURES_OF_CONSTRAINTS: dict[str, tuple[Scale, Metric]] = {
    "average-regret": ("linear", "average"),
    "average-violation": ("linear", "average-violation"),
    "hard-violation": ("linear", "hard-violation"),
}

app = typer.Typer(
    help="Gaussian-process bandits: environments, agents and studies of both.",
    epilog="Any command takes --debug, which shows the traceback of an error.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,  # `cli.main` says what is wrong in one line
)


@app.command()
def envs() -> None:
    """List the environments."""
    _print_rows("Environments", ("id", "problem", "arms", "horizon", "box", "data"), environment_rows())


@app.command()
def agents() -> None:
    """List the agents."""
    _print_rows("Agents", ("name", "algorithm", "handles"), agent_rows())


@app.command()
def run(
    study: Annotated[Path, typer.Argument(help="A study file; examples/studies has some.")],
    out: Annotated[Path, typer.Option(help="Folder of the results; what it holds is not computed again.")],
    workers: Annotated[int | None, typer.Option(min=1, help="Processes; by default one a core.")] = None,
) -> None:
    """Play every agent of a study on every environment, and show who did better."""
    loaded, text = load_study(study), study.read_bytes()  # as it is now: it may be edited during the run
    check_study(loaded)
    store = Store(out / "cells")
    failed = _run_with_progress(loaded, store, workers)
    (out / "study.toml").write_bytes(text)
    for environment, result in store.load(loaded):
        _console().print(result.table(), "")
        if result.alarms:
            _console().print(result.detection_table(), "")
        _write_results(result, out, environment.file_name)
    _console().print(f"Tables of every round in {out}/results, figures in {out}/figures.", highlight=False)
    if failed:
        _print_failures(failed)
        raise typer.Exit(1)


def _run_with_progress(study: Study, store: Store, workers: int | None) -> list[Outcome]:
    cells = list(study.cells())
    done = sum(map(store.holds, cells))
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("cells"))
    times = (TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn())
    with Progress(*columns, *times, console=_console()) as progress:
        task = progress.add_task(study.name, total=len(cells), completed=done)
        return run_study(study, store, workers, lambda outcome: progress.advance(task))


def _write_results(result: Result, out: Path, name: str) -> None:
    (out / "results").mkdir(exist_ok=True)
    (out / "figures").mkdir(exist_ok=True)
    result.save(out / "results" / f"{name}.parquet")
    figures = FIGURES | (FIGURES_OF_CONSTRAINTS if result.num_constraints else {})
    if result.alarms:
        result.plot_alarms(out / "figures" / f"{name}-alarms.png")
    for track, part in result.by_track().items():
        label = f"{name}-{track.replace(' ', '-')}" if track else name
        for figure, (scale, metric) in figures.items():
            part.plot(out / "figures" / f"{label}-{figure}.png", scale, metric)


def _print_failures(failed: list[Outcome]) -> None:
    console = Console(stderr=True, highlight=False)
    for outcome in failed:
        console.print(Text(f"\n{outcome.cell} failed:\n{outcome.failure}"))
    console.print(Text(f"{len(failed)} cells failed; run the same command again to repeat them alone."))


def _print_rows(title: str, header: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    table = Table(title=title, title_justify="left")
    for name in header:
        table.add_column(name, overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    _console().print(table)


def _console() -> Console:
    # A file or a pipe has no width, for which rich assumes a narrow one.
    return Console(highlight=False) if sys.stdout.isatty() else Console(highlight=False, width=140)
