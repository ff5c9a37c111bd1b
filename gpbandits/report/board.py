"""The leaderboard as a page in Markdown with two figures."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from gpbandits.evaluation.files import write_whole
from gpbandits.report.board_figures import environments_figure, ranks_figure
from gpbandits.report.standings import Standings
from gpbandits.report.write import write_table

FIGURES = {"leaderboard.png": ranks_figure, "leaderboard-environments.png": environments_figure}


def write_board(
    standings: Standings,
    folder: str | os.PathLike[str],
    command: str,
    excluded: Sequence[tuple[str, str]] = (),
) -> Path:
    """Write `leaderboard.md`, its figures and its tables, and return the path of the page.

    Args:
        standings: what is shown.
        folder: of the page; figures go into its `figures`, CSV and LaTeX into its `tables`.
        command: that makes the page, printed in it.
        excluded: who does not take part, and why.
    """
    place = Path(folder)
    (place / "figures").mkdir(parents=True, exist_ok=True)
    for name, draw in FIGURES.items():
        draw(standings).savefig(place / "figures" / name, dpi=120)
    overall, apart = tables = (standings.overall(), standings.by_environment())
    for table in tables:
        write_table(table, place / "tables", f"leaderboard-{table.name}")
    horizons = [result.horizon for result in standings.results]
    rounds = " to ".join(map(str, sorted({min(horizons), max(horizons)})))
    lines = [
        "# Leaderboard",
        "",
        "Every agent on every environment whose features it handles, with its default options, in trials of "
        f"{rounds} rounds. Figures draw what scores below -1 at -1. Made by `{command}`.",
        "",
        f"## {overall.title}",
        "",
        "![Ranks, scores and performance profiles](figures/leaderboard.png)",
        "",
        overall.markdown(),
        "",
        f"## {apart.title}",
        "",
        "![Mean score of every agent on every environment](figures/leaderboard-environments.png)",
        "",
        apart.markdown(),
        *_exclusions(excluded),
        "",
    ]
    page = place / "leaderboard.md"
    write_whole(page, "\n".join(lines).encode())
    return page


def _exclusions(excluded: Sequence[tuple[str, str]]) -> list[str]:
    """A line for those who are left out of the same environments for the same reason."""
    places: dict[str, dict[str, list[str]]] = {}  # of each reason, by agent
    for who, why in excluded:
        name, _, place = who.partition(" on ")
        reason = why.removeprefix(f"agent {name!r}: ")
        places.setdefault(reason, {}).setdefault(name, []).append(place)
    lines = [f"- {who}: {reason}" for reason, left_out in places.items() for who in _together(left_out)]
    return ["", "## Not taking part", "", *lines] if lines else []


def _together(left_out: dict[str, list[str]]) -> list[str]:
    """Say "a, b on c, d" for the agents that are left out of c and d."""
    names: dict[str, list[str]] = {}
    for name, places in left_out.items():
        names.setdefault(", ".join(places), []).append(name)
    return [", ".join(who) + (f" on {where}" if where else "") for where, who in names.items()]
