"""The command `merge` joins folders of one study that were computed apart."""

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from gpbandits.commands.terminal import console, print_faults


def merge(
    folders: Annotated[list[Path], typer.Argument(help="Folders of results of the same study.")],
    out: Annotated[Path, typer.Option(help="A new folder, or one of results of the study.")],
) -> None:
    """Join folders of one study that were computed apart, such as on machines without a shared folder.

    Other studies, other code, or a cell with other numbers in two folders are named, and nothing is written.
    """
    from gpbandits.experiments.merging import merge

    merged = merge(folders, out)
    print_faults(merged.faults)
    for place, number in merged.taken.items():
        console().print(Text(f"{number} cells from {place}"), soft_wrap=True)
    whole, missing = merged.whole, len(list(merged.whole.missing))
    again = f"gpbandits run {out}/study.toml --out {out}"
    state = f"{len(whole.valid)} of {len(whole.cells)} cells in {out}"
    remedy = f"computes the {missing} that are missing" if missing else "prints the tables"
    console().print(Text(f"{state}; `{again}` {remedy}."), soft_wrap=True)
