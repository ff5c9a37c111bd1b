"""The command `clean` moves files that a study no longer needs to a trash folder."""

import shlex
from typing import Annotated

import typer
from rich.text import Text

from gpbandits.commands.status import FOLDER
from gpbandits.commands.terminal import console


def clean(
    folder: FOLDER,
    yes: Annotated[bool, typer.Option("--yes", help="Move them without asking.")] = False,
    other_code: Annotated[
        bool, typer.Option("--other-code", help="Also cells of the study that other code computed.")
    ] = False,
) -> None:
    """Move cells that the study no longer has, and unfinished files, to a trash folder.

    Cells of the study that other versions or other code computed stay, unless --other-code is given.
    """
    from gpbandits.experiments import open_results
    from gpbandits.experiments.folder import move_to_trash

    study, store = open_results(folder)
    files = store.superfluous(study, other_code)
    size = sum(path.stat().st_size for path in files)
    if not files:
        console().print("Nothing to move: every file belongs to a cell of the study.")
        return
    console().print(Text(f"{len(files)} files of {size / 1e6:.1f} MB in {store.folder} belong to no cell."))
    if not (yes or typer.confirm("Move them to the trash folder?")):
        raise typer.Exit(1)
    place = move_to_trash(folder, files)
    back = f"mv {shlex.quote(str(place))}/* {shlex.quote(str(store.folder))}"
    console().print(Text(f"Moved {len(files)} files to {place}. To restore them: {back}"), soft_wrap=True)
    console().print(Text(f"Delete {place.parent} when you no longer need its files."), soft_wrap=True)
