"""The figures of a leaderboard have one row an agent, so that fifty agents need no legend."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from bandit_envs.basics.types import Floats
from gpbandits.evaluation.styles import COLOURS
from gpbandits.report.standings import THRESHOLDS, Standings

ROW, HEAD = 0.24, 1.5  # inches of a row, and of the margins above and below
LIMIT = 1.0  # scores below -1 are drawn at -1, so that one failure does not hide all other differences


def ranks_figure(standings: Standings) -> Figure:
    """Draw sets of ranks, scores with intervals, and performance profiles as colours; best on top."""
    figure, (left, middle, right) = _figure(standings, 10, (2, 2, 3))
    _draw_intervals(left, [standings.ranks[label] for label in standings.agents])
    left.set(title="rank", xlabel="ranks that the trials leave open")
    scores = [standings.overall_scores[label] for label in standings.agents]
    _draw_intervals(middle, np.maximum(scores, -LIMIT))
    middle.set(title="score", xlabel="0 like the reference, 1 optimal", xlim=(None, 1.03))
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
    """Make panels in a row that share the agents as rows, labelled on the left."""
    labels = standings.agents
    figure = Figure(figsize=(width, HEAD + ROW * len(labels)), layout="constrained")
    FigureCanvasAgg(figure)
    panels = list(figure.subplots(1, len(widths), sharey=True, width_ratios=widths, squeeze=False)[0])
    panels[0].set_yticks(range(len(labels)), [standings.marked(label) for label in labels], fontsize=8)
    for panel in panels[1:]:
        panel.tick_params(left=False)
    panels[0].set_ylim(len(labels) - 0.5, -0.5)
    return figure, panels


def _draw_intervals(axes: Axes, intervals: Sequence[Sequence[float]] | Floats) -> None:
    """Draw the estimate and interval of each row, (agents, 3)."""
    estimate, low, high = np.asarray(intervals, dtype=np.float64).T
    rows = np.arange(len(estimate))
    axes.hlines(rows, low, high, color=COLOURS[0], lw=2.5, alpha=0.5)
    axes.plot(estimate, rows, "o", color=COLOURS[0], ms=4.5)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(color="0.9", linewidth=0.6)
    axes.set_axisbelow(True)
