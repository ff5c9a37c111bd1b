"""The command `run` computes a study."""

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from gpbandits.commands.terminal import console
from gpbandits.commands.where import Kind, KindOption, Scheduler, TimeLimit, Workers, chosen_backend


def run(
    study: Annotated[Path, typer.Argument(help="A study file, such as those in examples/studies.")],
    out: Annotated[Path, typer.Option(help="Folder of the results; its cells are not computed again.")],
    workers: Workers = None,
    backend: KindOption = Kind.LOCAL,
    scheduler: Scheduler = None,
    time_limit: TimeLimit = None,
) -> None:
    """Run every agent of a study on every environment, and print tables that compare the agents.

    The modules that the study names are imported: run only studies from people you trust.
    """
    from gpbandits.commands.progress import print_failures, run_with_progress
    from gpbandits.experiments import check_study, keep_study, load_study, write_tables
    from gpbandits.report.write import write_figures

    loaded, text = load_study(study), study.read_bytes()  # read now: the file may be edited during the run
    where = chosen_backend(backend, scheduler, workers)
    if loaded.modules:
        names = ", ".join(loaded.modules)
        console().print(
            Text(f"Importing {names}, which {study} names: run only studies from people you trust.")
        )
    check_study(loaded, time_limit)
    store = keep_study(out, loaded, text)  # before anything is computed: `status` and a resumed run read it
    failed = run_with_progress(loaded, store, where, time_limit)
    results = store.load(loaded)
    write_tables(out, results)
    for environment, result in results:
        console().print(result.table(), "")
        if result.num_constraints:
            console().print(result.safety_table(), "")
        if result.alarms:
            console().print(result.detection_table(), "")
        write_figures(result, out / "figures", environment.file_name, (".png",))
    console().print(Text(f"Tables of the recorded rounds in {out}/results, figures in {out}/figures."))
    if failed:
        print_failures(failed)
        raise typer.Exit(1)
