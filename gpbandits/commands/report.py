"""The command `report` writes a report of a study."""

from pathlib import Path
from typing import Annotated

import typer

from bandit_envs.basics.extras import from_extra
from gpbandits.commands.terminal import console, print_faults


def report(
    folder: Annotated[
        Path, typer.Argument(help="Folder of results, as `gpbandits run` or `reproduce` made it.")
    ],
    figures: Annotated[bool, typer.Option(help="Write figures as PNG and PDF too.")] = True,
) -> None:
    """Write a page, tables and figures of the results in a folder, also of an unfinished study."""
    with from_extra("eval", "reports"):
        from gpbandits.experiments import open_results
        from gpbandits.report import write_report

    study, store = open_results(folder)
    print_faults(store.faults(study))
    page = write_report(folder, figures)
    places = f"Report in {page}; tables in {folder}/tables" + (f", figures in {folder}/figures." * figures)
    console().print(places, soft_wrap=True)  # a path must not be broken
