"""Running a study."""

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
from rich.text import Text

from bandit_envs.commands.terminal import console
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
        console().print(result.table(), "")
        _write_results(result, out, environment.file_name)
    console().print(f"Tables of every round in {out}/results, figures in {out}/figures.", highlight=False)
    if failed:
        _print_failures(failed)
        raise typer.Exit(1)


def _run_with_progress(study: Study, store: Store, workers: int | None) -> list[Outcome]:
    cells = list(study.cells())
    done = sum(map(store.holds, cells))
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("cells"))
    times = (TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn())
    with Progress(*columns, *times, console=console()) as progress:
        task = progress.add_task(study.name, total=len(cells), completed=done)
        return run_study(study, store, workers, lambda outcome: progress.advance(task))


def _write_results(result: Result, out: Path, name: str) -> None:
    (out / "results").mkdir(exist_ok=True)
    (out / "figures").mkdir(exist_ok=True)
    result.save(out / "results" / f"{name}.parquet")
    figures = FIGURES | (FIGURES_OF_CONSTRAINTS if result.num_constraints else {})
    for figure, (scale, metric) in figures.items():
        result.plot(out / "figures" / f"{name}-{figure}.png", scale, metric)


def _print_failures(failed: list[Outcome]) -> None:
    errors = Console(stderr=True, highlight=False)
    for outcome in failed:
        errors.print(Text(f"\n{outcome.cell} failed:\n{outcome.failure}"))
    errors.print(Text(f"{len(failed)} cells failed; run the same command again to repeat them alone."))
