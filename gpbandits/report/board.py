"""The leaderboard as a page in Markdown, with figures, and tables over trials and over tasks."""

import dataclasses
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.stats import rankdata, wilcoxon

from bandit_envs.basics.files import write_whole
from bandit_envs.basics.types import Floats
from bandit_envs.rendering.figure import ShownFigure
from gpbandits.evaluation.formats import Cell
from gpbandits.evaluation.marks import COLOURS
from gpbandits.evaluation.panels import tidy
from gpbandits.evaluation.statistics import holm
from gpbandits.evaluation.table import Table
from gpbandits.report.page import write_table
from gpbandits.report.standings import THRESHOLDS, Standings, by_places

FEWEST = 6  # tasks of which the best order has a p-value below 5 %: 2 / 2^6
TIED = 9  # digits of mean scores; those that agree in them share a rank

_METHOD = (
    "Over tasks: an agent's rank on a task is that of its mean score there, and the mean rank is over {} "
    "tasks, which are the units here, not trials."
)
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


def over_tasks(standings: Standings, units: Mapping[str, str] | None = None) -> Table:
    """Return the table of mean ranks over tasks, and of what their scores leave out.

    Args:
        standings: of the tasks.
        units: the unit of each environment, by its label; scores are averaged within one first, since tasks
            of one table share its function. By default each environment is one.
    """
    labels = standings.agents
    scores = _of_units(standings, labels, units or {})
    ranks = rankdata(-np.round(scores, TIED), axis=1).mean(axis=0)
    first = int(ranks.argmin())
    p_values = _tests(scores, first)
    simple, unsafe, seconds = _simple(standings, labels), _unsafe(standings, labels), _time(standings, labels)
    columns: dict[str, Sequence[float | None]] = {
        "mean rank": [float(each) for each in ranks],
        **({"p": p_values} if p_values else {}),
        "simple score": simple,
        **({"unsafe plays": unsafe} if unsafe else {}),
        **({"ms a round": seconds} if seconds else {}),
    }
    order = np.argsort(ranks, kind="stable")
    rows: list[tuple[Cell, ...]] = [
        (standings.marked(labels[i]), *(column[i] for column in columns.values())) for i in order
    ]
    notes = (
        _METHOD.format(len(scores)),
        _TEST.format(standings.marked(labels[first])) if p_values else _FEW,
        _SIMPLE,
        *([_UNSAFE] if unsafe else []),
    )
    return Table("Over tasks", ("agent", *columns), tuple(rows), notes, name="over-tasks")


def _of_units(standings: Standings, labels: Sequence[str], units: Mapping[str, str]) -> Floats:
    """Return the mean score of each agent in each unit, (U, K)."""
    groups: dict[str, list[Floats]] = {}
    for result, scores in zip(standings.results, standings.scores, strict=True):
        own = np.array([scores[label].mean() for label in labels])
        groups.setdefault(units.get(result.environment, result.environment), []).append(own)
    return np.array([np.mean(each, axis=0) for each in groups.values()])


def _tests(scores: Floats, first: int) -> list[float | None]:
    """Return the corrected p-value of each agent against the first, None for itself; [] for few units."""
    if len(scores) < FEWEST:
        return []
    others = [i for i in range(scores.shape[1]) if i != first]
    tested = signed_ranks([scores[:, first] - scores[:, i] for i in others])
    corrected = dict(zip(others, tested, strict=True))
    return [corrected.get(i) for i in range(scores.shape[1])]


def signed_ranks(differences: Sequence[Floats]) -> list[float]:
    """Return the two-sided p-value of each sequence of differences over tasks, (U,), of Wilcoxon's
    signed-rank test, with Holm's correction over all.
    """
    gaps = [np.round(each, TIED) for each in differences]
    tests: list[Any] = [wilcoxon(gap) if gap.any() else None for gap in gaps]
    return holm([1.0 if test is None else float(test.pvalue) for test in tests])


def _simple(standings: Standings, labels: Sequence[str]) -> list[float | None]:
    shares: list[Floats] = []
    for result in standings.results:
        if not result.has_simple_regret:
            continue
        last = {label: float(result.simple_regret[label][:, -1].mean()) for label in labels}
        reference = last[standings.reference]
        if reference > 0:
            shares.append(np.array([1.0 - last[label] / reference for label in labels]))
    return np.mean(shares, axis=0).tolist() if shares else [None] * len(labels)


def _unsafe(standings: Standings, labels: Sequence[str]) -> list[float | None]:
    """Return the share of unsafe rounds over the tasks with constraints; [] without any."""
    limited = [result for result in standings.results if result.num_constraints]
    shares = [[(x.unsafe_plays[label][:, -1] / x.played[label]).mean() for x in limited] for label in labels]
    return [float(np.mean(own)) for own in shares if own]


def _time(standings: Standings, labels: Sequence[str]) -> list[float | None]:
    """Return milliseconds a round, the mean over tasks; [] where results hold no times."""
    each = [
        [1e3 * result.seconds_per_decision[label].mean() for label in labels] for result in standings.results
    ]
    mean = np.mean(each, axis=0)
    return [] if np.isnan(mean).any() else [float(value) for value in mean]


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
