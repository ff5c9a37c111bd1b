"""Removing what a study no longer needs."""

from typing import Annotated

import typer
from rich.text import Text

from gpbandits.commands.status import FOLDER
from gpbandits.commands.terminal import console


def clean(
    folder: FOLDER, yes: Annotated[bool, typer.Option("--yes", help="Remove without asking.")] = False
) -> None:
    """Remove cells that the study no longer names (other options, versions or code), and unfinished files."""
    from gpbandits.experiments import open_results

    study, store = open_results(folder)
    files = store.superfluous(study)
    size = sum(path.stat().st_size for path in files)
    if not files:
        console().print("Nothing to remove: every file belongs to a cell of the study.")
        return
    console().print(Text(f"{len(files)} files of {size / 1e6:.1f} MB in {store.folder} belong to no cell."))
    if not (yes or typer.confirm("Remove them?")):
        raise typer.Exit(1)
    for path in files:
        path.unlink(missing_ok=True)
    console().print(f"Removed {len(files)} files.")
