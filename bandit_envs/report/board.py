"""The leaderboard as a page in Markdown with one figure."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import cycle
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from bandit_envs.evaluation.files import write_whole
from bandit_envs.evaluation.plots import COLOURS, DASHES
from bandit_envs.evaluation.statistics import Interval
from bandit_envs.report.standings import THRESHOLDS, Standings
from bandit_envs.report.write import write_table

FIGURE = "leaderboard.png"


def write_board(
    standings: Standings,
    folder: str | os.PathLike[str],
    command: str,
    excluded: Sequence[tuple[str, str]] = (),
) -> Path:
    """Write `leaderboard.md`, its figure and its tables, and return the path of the page.

    Args:
        standings: what is shown.
        folder: of the page; the figure goes into its `figures`, CSV and LaTeX into its `tables`.
        command: that makes the page, printed in it.
        excluded: who does not take part, and why.
    """
    place = Path(folder)
    (place / "figures").mkdir(parents=True, exist_ok=True)
    board_figure(standings).savefig(place / "figures" / FIGURE, dpi=150)
    tables = (standings.overall(), standings.by_environment())
    for table in tables:
        write_table(table, place / "tables", f"leaderboard-{table.name}")
    horizons = [result.horizon for result in standings.results]
    rounds = " to ".join(map(str, sorted({min(horizons), max(horizons)})))
    lines = [
        "# Leaderboard",
        "",
        "Every agent on every environment whose features it handles, with its default options, in a quick "
        f"setting of {rounds} rounds: a first look, no verdict. Made by `{command}`.",
        "",
        f"![Scores, performance profiles and ranks](figures/{FIGURE})",
        *(line for table in tables for line in ("", f"## {table.title}", "", table.markdown())),
        *_exclusions(excluded),
        "",
    ]
    page = place / "leaderboard.md"
    write_whole(page, "\n".join(lines).encode())
    return page


def board_figure(standings: Standings) -> Figure:
    """Scores with intervals, performance profiles, relative ranks; the best agent on top."""
    labels = standings.agents
    figure = Figure(figsize=(11, max(3.2, 1.4 + 0.26 * len(labels))), layout="constrained")
    FigureCanvasAgg(figure)
    left, middle, right = figure.subplots(1, 3, width_ratios=(3, 4, 3))
    _draw_intervals(left, standings, standings.pooled)
    left.set(xlabel="score: 0 as the reference, 1 optimal", title="interquartile mean score")
    _draw_intervals(right, standings, standings.ranks)
    right.set(xlabel="0 best, 1 worst", yticklabels=(), title="relative rank")
    for label, colour, dashes in zip(labels, cycle(COLOURS), cycle(DASHES), strict=False):
        middle.plot(
            THRESHOLDS, standings.profile(label).estimate, color=colour, ls=dashes, lw=1.3,
            label=standings.marked(label),
        )  # fmt: skip
    middle.set(
        xlabel="score τ", ylabel="share of trials above τ", title="performance profile", ylim=(-0.02, 1.02)
    )
    middle.legend(frameon=False, fontsize=6.5, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    for axes in (left, middle, right):
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(color="0.9", linewidth=0.6)
        axes.set_axisbelow(True)
    return figure


def _draw_intervals(axes: Axes, standings: Standings, intervals: dict[str, Interval]) -> None:
    labels = standings.agents
    for row, (label, colour) in enumerate(zip(labels, cycle(COLOURS), strict=False)):
        estimate, low, high = map(float, intervals[label])
        axes.plot(np.array([low, high]), np.array([row, row]), color=colour, lw=2, solid_capstyle="butt")
        axes.plot([estimate], [row], "o", color=colour, ms=5)
    axes.set_yticks(range(len(labels)), [standings.marked(label) for label in labels], fontsize=8)
    axes.set_ylim(len(labels) - 0.5, -0.5)


def _exclusions(excluded: Sequence[tuple[str, str]]) -> list[str]:
    if not excluded:
        return []
    return ["", "## Not taking part", "", *(f"- {who}: {why}" for who, why in excluded)]
