"""Running a study, and where it computes: the options of all commands that do."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from gpbandits.commands.terminal import console

if TYPE_CHECKING:
    from gpbandits.experiments import Outcome
    from gpbandits.experiments.backends import Backend

Workers = Annotated[int | None, typer.Option(min=1, help="Number of processes; by default one a core.")]
Scheduler = Annotated[
    str | None,
    typer.Option(help="Address of a Dask scheduler, as in tcp://10.0.0.1:8786, for --backend dask."),
]


TimeLimit = Annotated[
    float | None,
    typer.Option(min=0.001, help="Seconds that a cell, or making its environment or agent, may take."),
]


class ComputeKind(StrEnum):
    """The kind of a backend is local processes or a Dask cluster."""

    LOCAL = "local"
    DASK = "dask"


KindOption = Annotated[
    ComputeKind, typer.Option("--backend", help="Compute in processes of this machine, or on a Dask cluster.")
]


def chosen_backend(kind: ComputeKind, scheduler: str | None, workers: int | None) -> "Backend":
    """Return the backend that the options select."""
    from gpbandits.experiments.backends import local
    from gpbandits.experiments.cluster import dask

    if (kind is ComputeKind.DASK) != (scheduler is not None):
        raise ValueError(f"--scheduler must be given with --backend dask, and only then, got {scheduler!r}")
    if scheduler is None:
        return local(workers)
    if workers is not None:
        raise ValueError(f"--workers is for --backend local: a cluster has its own workers, got {workers}")
    return dask(scheduler)


def run(
    study: Annotated[Path, typer.Argument(help="A study file, such as those in examples/studies.")],
    out: Annotated[Path, typer.Option(help="Folder of the results; its cells are not computed again.")],
    workers: Workers = None,
    backend: KindOption = ComputeKind.LOCAL,
    scheduler: Scheduler = None,
    time_limit: TimeLimit = None,
    shard: Annotated[
        str | None,
        typer.Option(help="Share of a job in an array: i/n, auto, or auto/n; see docs/cluster.md."),
    ] = None,
) -> None:
    """Run every agent of a study on every environment, and print tables that compare the agents.

    The modules that the study names are imported: run only studies from people you trust. With --shard the
    tables come from the job that finds all cells computed.
    """
    from gpbandits.commands.progress import run_with_progress
    from gpbandits.experiments import check_study, keep_study, load_study, write_tables
    from gpbandits.experiments.shards import shard_of
    from gpbandits.report.page import write_figures

    loaded, text = load_study(study), study.read_bytes()  # read now: the file may be edited during the run
    share = None if shard is None else shard_of(shard)
    if share is not None and backend is ComputeKind.DASK:
        raise ValueError(f"--shard is for --backend local: a scheduler shares cells itself, got {shard}")
    where = chosen_backend(backend, scheduler, workers)
    if loaded.modules:
        names = ", ".join(loaded.modules)
        console().print(
            Text(f"Importing {names}, which {study} names: run only studies from people you trust.")
        )
    check_study(loaded, time_limit)
    store = keep_study(out, loaded, text)  # before anything is computed: `status` and a resumed run read it
    failed = run_with_progress(loaded, store, where, time_limit, share)
    missing = 0 if share is None else len(list(store.survey(loaded).missing))
    if missing > len(failed):
        left = f"{missing - len(failed)} cells are missing, which other jobs compute or will."
        console().print(f"Share {share} is done. {left} Run without --shard for the tables.")
        _end(failed)
        return
    results = store.load(loaded)
    write_tables(out, results)
    for environment, result in results:
        console().print(result.table(), "")
        if result.num_constraints:
            console().print(result.safety_table(), "")
        if result.alarms:
            console().print(result.detection_table(), "")
        if result.stopped:
            console().print(result.stopping_table(), "")
        write_figures(result, out / "figures", environment.file_name, (".png",))
    console().print(Text(f"Tables of the recorded rounds in {out}/results, figures in {out}/figures."))
    _end(failed)


def _end(failed: "list[Outcome]") -> None:
    from gpbandits.commands.progress import print_failures

    if failed:
        print_failures(failed)
        raise typer.Exit(1)
