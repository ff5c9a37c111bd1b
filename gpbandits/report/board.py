"""The leaderboard is a Markdown page with a table and a figure for each class of problems."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from bandit_envs.basics.files import write_whole
from gpbandits.report.board_figures import ranks_figure
from gpbandits.report.grid import Grid
from gpbandits.report.standings import Standings
from gpbandits.report.write import write_table


def write_board(
    classes: Mapping[str, Standings],
    folder: str | os.PathLike[str],
    command: str,
    excluded: Sequence[tuple[str, str]] = (),
) -> Path:
    """Write `leaderboard.md`, its figures and its tables, and return the path of the page.

    Args:
        classes: the standings of each class of problems, by name; classes are ranked separately.
        folder: folder of the page; figures go into its `figures`, CSV and LaTeX into its `tables`.
        command: the command that makes the page, printed in it.
        excluded: (agent or environment, reason) of those that do not take part.
    """
    place = Path(folder)
    (place / "figures").mkdir(parents=True, exist_ok=True)
    grids = {name: standings.overall() for name, standings in classes.items()}
    for name, grid in grids.items():
        ranks_figure(classes[name]).savefig(place / "figures" / f"leaderboard-{name}.png", dpi=120)
        write_table(grid, place / "tables", f"leaderboard-{name}")
    shared = [
        note for note in next(iter(grids.values())).notes if all(note in g.notes for g in grids.values())
    ]
    horizons = [result.horizon for standings in classes.values() for result in standings.results]
    rounds = " to ".join(map(str, sorted({min(horizons), max(horizons)})))
    lines = [
        "# Leaderboard",
        "",
        "Every agent on the environments whose features it handles, with its default options, in trials of "
        f"{rounds} rounds. Agents are ranked within a class of problems, those that play all of its "
        "environments. Figures draw what scores below -1 at -1. "
        f"Made by `{command}`.",
        "",
        " ".join(shared),
        *(line for name, grid in grids.items() for line in _section(name, grid, shared)),
        *_exclusions(excluded),
        "",
    ]
    page = place / "leaderboard.md"
    write_whole(page, "\n".join(lines).encode())
    return page


def _section(name: str, grid: Grid, shared: Sequence[str]) -> list[str]:
    """Return the section of a class of problems: its figure, its table and its own notes."""
    own = dataclasses.replace(grid, notes=tuple(note for note in grid.notes if note not in shared))
    figure = f"![Ranks, scores and performance profiles, {name}](figures/leaderboard-{name}.png)"
    return ["", f"## {name.capitalize()}", "", figure, "", own.markdown().rstrip()]


def _exclusions(excluded: Sequence[tuple[str, str]]) -> list[str]:
    """Return a line for all agents that are left out of the same environments for the same reason."""
    places: dict[str, dict[str, list[str]]] = {}  # reason -> agent -> environments
    for who, why in excluded:
        name, _, place = who.partition(" on ")
        reason = why.removeprefix(f"agent {name!r}: ")
        places.setdefault(reason, {}).setdefault(name, []).append(place)
    lines = [f"- {who}: {reason}" for reason, left_out in places.items() for who in _together(left_out)]
    return ["", "## Not taking part", "", *lines] if lines else []


def _together(left_out: dict[str, list[str]]) -> list[str]:
    """Return "a, b on c, d" for agents a and b that are left out of c and d."""
    names: dict[str, list[str]] = {}
    for name, places in left_out.items():
        names.setdefault(", ".join(places), []).append(name)
    return [", ".join(who) + (f" on {where}" if where else "") for where, who in names.items()]
