"""The leaderboard as a page in Markdown, with a table and figures."""

import dataclasses
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bandit_envs.basics.files import write_whole
from bandit_envs.basics.types import Floats
from bandit_envs.rendering.figure import ShownFigure
from gpbandits.evaluation.marks import COLOURS
from gpbandits.evaluation.panels import tidy
from gpbandits.evaluation.table import Table
from gpbandits.report.over_tasks import over_tasks
from gpbandits.report.page import write_table
from gpbandits.report.standings import THRESHOLDS, Standings, by_places

ROW, HEAD = 0.24, 1.5  # inches of a row, and of the margins above and below
APART = 0.12  # inches beside a panel, so that labels of two do not touch
LIMIT = 1.0  # scores below -1 are drawn at -1, so that one failure does not hide all other differences


def ranks_figure(standings: Standings) -> Figure:
    """Draw sets of ranks, scores with intervals, and performance profiles as colours; best on top."""
    figure, (left, middle, right) = _figure(standings, 10, (2, 2, 3))
    _draw_intervals(left, [standings.ranks[label] for label in standings.agents])
    left.set(title="rank", xlabel="ranks left open")
    scores = [standings.overall_scores[label] for label in standings.agents]
    _draw_intervals(middle, np.maximum(scores, -LIMIT))
    middle.set(title="score", xlabel="reference 0, optimal 1", xlim=(None, 1.03))
    shares = np.array([standings.profile(label).estimate for label in standings.agents])
    step = THRESHOLDS[1] - THRESHOLDS[0]
    ends = (float(THRESHOLDS[0] - step / 2), float(THRESHOLDS[-1] + step / 2))
    colours = right.imshow(
        shares, cmap="Blues", vmin=0, vmax=1, aspect="auto", extent=(*ends, len(shares) - 0.5, -0.5)
    )
    right.set(title="performance profile", xlabel="score τ")
    right.spines[:].set_visible(False)
    figure.colorbar(colours, ax=right, label="share of trials above τ", aspect=40)
    return figure


def _figure(standings: Standings, width: float, widths: tuple[int, ...]) -> tuple[Figure, list[Axes]]:
    labels = standings.agents
    figure = ShownFigure.of_size(width, HEAD + ROW * len(labels))
    figure.set_layout_engine("constrained", w_pad=APART)
    panels = list(figure.subplots(1, len(widths), sharey=True, width_ratios=widths, squeeze=False)[0])
    panels[0].set_yticks(range(len(labels)), [standings.marked(label) for label in labels], fontsize=8)
    for panel in panels[1:]:
        panel.tick_params(left=False)
    panels[0].set_ylim(len(labels) - 0.5, -0.5)
    return figure, panels


def _draw_intervals(axes: Axes, intervals: Sequence[Sequence[float]] | Floats) -> None:
    estimate, low, high = np.asarray(intervals, dtype=np.float64).T
    rows = np.arange(len(estimate))
    axes.hlines(rows, low, high, color=COLOURS[0], lw=2.5, alpha=0.5)
    axes.plot(estimate, rows, "o", color=COLOURS[0], ms=4.5)
    tidy(axes)


def write_board(
    classes: Mapping[str, Standings],
    folder: str | os.PathLike[str],
    command: str,
    excluded: Sequence[tuple[str, str]] = (),
    board: str = "leaderboard",
    who: str = "all agents",
    units: Mapping[str, str] | None = None,
) -> Path:
    """Write `leaderboard.md` (or another name), its figures and its tables, and return the path of the page.

    Classes of problems are ranked separately. The page states the command that makes it, and each agent or
    environment that does not take part with the reason.

    Args:
        who: the agents that were played, as the page's first sentence names them.
        units: see `over_tasks`.
    """
    place = Path(folder)
    (place / "figures").mkdir(parents=True, exist_ok=True)
    grids = {name: standings.overall() for name, standings in classes.items()}
    for name, grid in grids.items():
        ranks_figure(classes[name]).savefig(place / "figures" / f"{board}-{name}.png", dpi=120)
        write_table(grid, place / "tables", f"{board}-{name}")
        if classes[name].wide:
            write_table(classes[name].by_environment(), place / "tables", f"{board}-{name}-each")
        if len(classes[name].results) > 1:
            write_table(over_tasks(classes[name], units), place / "tables", f"{board}-{name}-tasks")
    shared = [
        note for note in next(iter(grids.values())).notes if all(note in g.notes for g in grids.values())
    ]
    horizons = [result.horizon for standings in classes.values() for result in standings.results]
    rounds = " to ".join(map(str, sorted({min(horizons), max(horizons)})))
    lines = [
        f"# {board.replace('-', ', ').capitalize()}",
        "",
        f"For readers who ask which agents rank first: {who} on the environments whose features they "
        f"handle, with their default options, in trials of {rounds} rounds. Agents are ranked within a class "
        "of problems, those that play all of its environments. Figures draw what scores below -1 at -1. "
        f"Made by `{command}`.",
        "",
        " ".join(shared),
        *(
            line
            for name in grids
            for line in _section(board, name, classes[name], grids[name], shared, units)
        ),
        *_exclusions(excluded),
        "",
    ]
    page = place / f"{board}.md"
    write_whole(page, "\n".join(lines).encode())
    return page


def _section(
    board: str,
    name: str,
    standings: Standings,
    grid: Table,
    shared: Sequence[str],
    units: Mapping[str, str] | None,
) -> list[str]:
    own = dataclasses.replace(grid, notes=tuple(note for note in grid.notes if note not in shared))
    figure = f"![Ranks, scores and performance profiles, {name}](figures/{board}-{name}.png)"
    lines = ["", f"## {name.capitalize()}", "", figure, "", own.to_markdown().rstrip()]
    if standings.wide:
        lines += [
            "",
            "Mean scores in each environment:",
            "",
            standings.by_environment().to_markdown().rstrip(),
        ]
    if len(standings.results) > 1:
        lines += ["", over_tasks(standings, units).to_markdown().rstrip()]
    return lines


def _exclusions(excluded: Sequence[tuple[str, str]]) -> list[str]:
    """Return a line for all agents that are left out of the same environments for the same reason."""
    reasons: dict[str, dict[str, list[str]]] = {}  # reason -> agent -> environments
    for who, why in excluded:
        name, _, place = who.partition(" on ")
        reason = why.removeprefix(f"agent {name!r}: ")
        reasons.setdefault(reason, {}).setdefault(name, []).append(place)
    together = [(who, places, why) for why, out in reasons.items() for places, who in by_places(out).items()]
    lines = [f"- {', '.join(who)}{f' on {where}' if where else ''}: {why}" for who, where, why in together]
    return ["", "## Not taking part", "", *lines] if lines else []
