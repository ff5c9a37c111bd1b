"""The leaderboard as a page in Markdown, with figures, and tables over trials and over tasks."""

import dataclasses
import os
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.stats import rankdata, wilcoxon

from bandit_envs.basics.files import write_whole
from bandit_envs.basics.types import Floats
from bandit_envs.rendering.picture import ShownFigure
from gpbandits.evaluation.formats import COLOURS, Cell
from gpbandits.evaluation.panels import tidy
from gpbandits.evaluation.result import Result
from gpbandits.evaluation.statistics import holm
from gpbandits.evaluation.table import Table
from gpbandits.report.page import write_table
from gpbandits.report.standings import DEFINITIONS, THRESHOLDS, Standings, by_places
from gpbandits.report.stored import with_files

FEWEST = 6  # tasks of which the best order has a p-value below 5 %: 2 / 2^6
TIED = 9  # digits of mean scores; those that agree in them share a rank

_SIZE = "The mean rank is over {} tasks, which are the units here, not trials."
_METHOD = "Over tasks, an agent's rank on each is that of its mean score there."
_TEST = (
    "p is that of a Wilcoxon signed-rank test of the mean scores against {}, the first by mean rank, "
    "two-sided, with Holm's correction over the agents."
)
_FEW = f"Fewer than {FEWEST} tasks cannot differ significantly, so that no p is shown."
_SIMPLE = (
    "The simple score is 1 - simple regret over the reference's, both at the last round, averaged over "
    "tasks: how good the best play was whose result was delivered."
)
_UNSAFE = "Unsafe plays are the share of rounds in which a cost was above 0."
_DEFINITIONS = (*DEFINITIONS, _METHOD, _SIMPLE, _FEW, _UNSAFE)  # which a page states once


def over_tasks(standings: Standings, units: Mapping[str, str] | None = None) -> Table:
    """Return the table of mean ranks over tasks, and of what their scores leave out.

    Args:
        standings: of the tasks.
        units: the unit of each environment, by its label; scores are averaged within one first, since tasks
            of one table share its function. By default each environment is one.
    """
    labels = standings.agents
    groups: dict[str, list[Floats]] = {}
    for result, scored in zip(standings.results, standings.scores, strict=True):
        own = np.array([scored[label].mean() for label in labels])
        groups.setdefault((units or {}).get(result.environment, result.environment), []).append(own)
    scores = np.array([np.mean(each, axis=0) for each in groups.values()])  # (units, K)
    ranks = rankdata(-np.round(scores, TIED), axis=1).mean(axis=0)
    first = int(ranks.argmin())
    p_values: list[float | None] = []
    if len(scores) >= FEWEST:
        others = [i for i in range(len(labels)) if i != first]
        tested = signed_ranks([scores[:, first] - scores[:, i] for i in others])
        corrected = dict(zip(others, tested, strict=True))
        p_values = [corrected.get(i) for i in range(len(labels))]
    unsafe = _mean_of(standings, lambda x, y: x.unsafe_plays[y][:, -1] / x.played[y], constrained=True)
    seconds = _mean_of(standings, lambda x, y: 1e3 * x.seconds_per_decision[y])
    columns: dict[str, Sequence[float | None]] = {
        "mean rank": ranks.tolist(),
        "p": p_values,
        "simple score": _simple(standings, labels),
        "unsafe plays": unsafe,
        "ms a round": [] if np.isnan(seconds).any() else seconds,
    }
    shown = {name: column for name, column in columns.items() if len(column)}
    order = np.argsort(ranks, kind="stable")
    rows: list[tuple[Cell, ...]] = [
        (standings.marked(labels[i]), *(column[i] for column in shown.values())) for i in order
    ]
    notes = (
        _SIZE.format(len(scores)),
        _METHOD,
        _TEST.format(standings.marked(labels[first])) if p_values else _FEW,
        _SIMPLE,
        *([_UNSAFE] if unsafe else []),
    )
    return Table("Over tasks", ("agent", *shown), tuple(rows), notes, name="over-tasks")


def signed_ranks(differences: Sequence[Floats]) -> list[float]:
    """Return the two-sided p-value of each sequence of differences over tasks, (U,), of Wilcoxon's
    signed-rank test, with Holm's correction over all.
    """
    gaps = [np.round(each, TIED) for each in differences]
    tests: list[Any] = [wilcoxon(gap) if gap.any() else None for gap in gaps]
    return holm([1.0 if test is None else float(test.pvalue) for test in tests])


def _simple(standings: Standings, labels: Sequence[str]) -> list[float | None]:
    shares: list[Floats] = []
    for result in (each for each in standings.results if each.has_simple_regret):
        last = np.array([result.simple_regret[label][:, -1].mean() for label in labels])
        reference = float(result.simple_regret[standings.reference][:, -1].mean())
        shares += [1.0 - last / reference] if reference > 0 else []
    return np.mean(shares, axis=0).tolist() if shares else [None] * len(labels)


def _mean_of(
    standings: Standings, of: Callable[[Result, str], Floats], constrained: bool = False
) -> list[float]:
    """Return the mean over tasks, or those with constraints, of an agent's mean over trials; [] of none."""
    asked = [each for each in standings.results if each.num_constraints or not constrained]
    means = [[float(of(each, label).mean()) for label in standings.agents] for each in asked]
    return np.mean(means, axis=0).tolist() if means else []


ROW, HEAD = 0.24, 1.5  # inches of a row, and of the margins above and below
APART = 0.12  # inches beside a panel, so that labels of two do not touch
LIMIT = 1.0  # scores below -1 are drawn at -1, so that one failure does not hide all other differences


def ranks_figure(standings: Standings) -> Figure:
    """Draw sets of ranks, scores with intervals, and performance profiles as colours; best on top."""
    labels = standings.agents
    figure = ShownFigure.of_size(10, HEAD + ROW * len(labels))
    figure.set_layout_engine("constrained", w_pad=APART)
    left, middle, right = figure.subplots(1, 3, sharey=True, width_ratios=(2, 2, 3))
    left.set_yticks(range(len(labels)), [standings.marked(label) for label in labels], fontsize=8)
    left.set_ylim(len(labels) - 0.5, -0.5)
    for panel in (middle, right):
        panel.tick_params(left=False)
    _draw_intervals(left, [standings.ranks[label] for label in labels])
    left.set(title="rank", xlabel="ranks left open")
    scores = [standings.overall_scores[label] for label in labels]
    _draw_intervals(middle, np.maximum(scores, -LIMIT))
    middle.set(title="score", xlabel="reference 0, optimal 1", xlim=(None, 1.03))
    shares = np.array([standings.profile(label).estimate for label in labels])
    step = THRESHOLDS[1] - THRESHOLDS[0]
    ends = (float(THRESHOLDS[0] - step / 2), float(THRESHOLDS[-1] + step / 2))
    colours = right.imshow(
        shares, cmap="Blues", vmin=0, vmax=1, aspect="auto", extent=(*ends, len(shares) - 0.5, -0.5)
    )
    right.set(title="performance profile", xlabel="score τ")
    right.spines[:].set_visible(False)
    figure.colorbar(colours, ax=right, label="share of trials above τ", aspect=40)
    return figure


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
    site: bool = False,
) -> Path:
    """Write `leaderboard.md` (or another name), its figures and its tables, and return the path of the page.

    Classes of problems are ranked separately. The page states the command that makes it, and each agent or
    environment that does not take part with the reason.

    Args:
        who: the agents that were played, as the page's first sentence names them.
        units: see `over_tasks`.
        site: the page includes the files of its tables, for a site of MyST; by default tables stand in it.
    """
    place = Path(folder)
    (place / "figures").mkdir(parents=True, exist_ok=True)
    grids = {name: standings.overall() for name, standings in classes.items()}
    ranked = {name: over_tasks(x, units) for name, x in classes.items() if len(x.results) > 1}
    for name, grid in grids.items():
        ranks_figure(classes[name]).savefig(place / "figures" / f"{board}-{name}.png", dpi=120)
        write_table(grid, place / "tables", f"{board}-{name}")
        if classes[name].wide:
            write_table(classes[name].by_environment(), place / "tables", f"{board}-{name}-each")
        if name in ranked:
            write_table(ranked[name], place / "tables", f"{board}-{name}-tasks")
    first, *others = grids.values()
    shared = [note for note in first.notes if all(note in grid.notes for grid in others)]
    noted = [note for table in (*grids.values(), *ranked.values()) for note in table.notes]
    defined = [note for note in _DEFINITIONS if noted.count(note) > 1 and note not in shared]
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
        *(["", " ".join(defined)] if defined else []),
        *chain.from_iterable(
            _section(board, x, classes[x], grid, ranked.get(x), [*shared, *defined], site)
            for x, grid in grids.items()
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
    ranked: Table | None,
    shared: Sequence[str],
    site: bool,
) -> list[str]:
    def shown(table: Table, kind: str = "") -> str:
        own = tuple(note for note in table.notes if note not in shared)
        text = dataclasses.replace(table, notes=own).to_markdown().rstrip()
        return with_files(text, [f"tables/{board}-{name}{kind}.csv"], ":rounded:") if site else text

    figure = f"![Ranks, scores and performance profiles, {name}](figures/{board}-{name}.png)"
    lines = ["", f"## {name.capitalize()}", "", figure, "", shown(grid)]
    if standings.wide:
        lines += ["", "Mean scores in each environment:", "", shown(standings.by_environment(), "-each")]
    if ranked is not None:
        lines += ["", shown(ranked, "-tasks")]
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
