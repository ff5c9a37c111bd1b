"""Commands on folders of results: how far a study has come, what it no longer needs, folders as one."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from gpbandits.commands.terminal import console, escaped, print_faults, print_rows

if TYPE_CHECKING:
    from gpbandits.experiments import Store, Study
    from gpbandits.experiments.store import CellCount

FOLDER = Annotated[Path, typer.Argument(help="Folder of results, made by `gpbandits run` or `reproduce`.")]


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
    from gpbandits.experiments.store import move_to_trash

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


def status(folder: FOLDER) -> None:
    """Count the trials that are done, failed and missing, and print the tracebacks."""
    from gpbandits.experiments import open_results
    from gpbandits.experiments.store import count_all, failures

    study, store = open_results(folder)
    known = store.survey(study)
    counts = count_all(study, known)
    table = Table(title=f"{study.name}: trials", title_justify="left")
    for name in ("agent", *(environment.label for environment in study.environments)):
        table.add_column(Text(name), overflow="fold")
    for agent in study.agents:
        row = (_text(counts[agent.label, environment.label]) for environment in study.environments)
        table.add_row(Text(agent.label), *row)
    console().print(table)
    _print_parts(study, store)
    print_faults(known.faults.values())
    for cell, failure in failures(study, store, known):
        shown = f"\n{cell} failed ({store.failure_path(cell)}):\n{failure.strip()}"
        console().print(Text(escaped(shown)))  # escaped first, since lines are broken by their final width
    done, failed, missing = (sum(column) for column in zip(*counts.values(), strict=True))
    left = len(store.superfluous(study, known=known))
    remedy = f" {left} files belong to no cell of the study; `gpbandits clean` moves them away." * (left > 0)
    console().print(f"{done} trials done, {failed} failed, {missing} missing.{remedy}")


def _print_parts(study: Study, store: Store) -> None:
    """Print the trials done of each figure: a reproduction computes only its part of a study."""
    from gpbandits.experiments.store import count_all
    from gpbandits.reproductions.page import parts_of

    rows = []
    for name, part in parts_of(study).items():
        counts = count_all(part, store.survey(part)).values()
        rows.append((name, f"{sum(each.done for each in counts)} of {sum(each.total for each in counts)}"))
    if rows:
        print_rows("Figures that are parts of it", ("reproduction", "trials"), rows)


def _text(count: CellCount) -> Text:
    parts = [f"{count.done} of {count.total}"]
    parts += [f"{count.failed} failed"] if count.failed else []
    return Text(", ".join(parts), style="red" if count.failed else "" if count.missing else "green")


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
    again = shlex.join(["gpbandits", "run", f"{out}/study.toml", "--out", str(out)])
    state = f"{len(whole.valid)} of {len(whole.cells)} cells in {out}"
    remedy = f"computes the {missing} that are missing" if missing else "prints the tables"
    console().print(Text(f"{state}; `{again}` {remedy}."), soft_wrap=True)
