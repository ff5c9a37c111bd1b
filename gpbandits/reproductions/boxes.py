"""Box plots over time, one panel an agent, show the spread of single trials, as some papers do."""

from __future__ import annotations

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from bandit_envs.basics.types import Ints
from gpbandits.evaluation.metrics import metric_named
from gpbandits.evaluation.result import Metric, Result

COLUMNS = 3  # panels in a row
BOXES = 18  # most boxes of a panel
BOX, MEDIAN = "#9CC3E6", "#D55E00"


def box_figure(result: Result, metric: Metric) -> Figure:
    """Draw quartiles at evenly spread rounds, whiskers to 1.5 times the interquartile range, and outliers."""
    curves = result.curves(metric)
    rows = -(-len(curves) // COLUMNS)
    figure = Figure(figsize=(3.4 * COLUMNS, 2.5 * rows + 0.3), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(rows, COLUMNS, sharex=True, sharey=True, squeeze=False).flatten()
    index = boxed(result.rounds)
    at, line = result.rounds[index], {"color": "0.25", "linewidth": 0.8}
    for axes, (label, curve) in zip(panels, curves.items(), strict=False):
        axes.boxplot(
            curve[:, index], positions=at, widths=0.6 * np.diff(at, prepend=0).min(), manage_ticks=False,
            patch_artist=True, boxprops=line | {"facecolor": BOX}, whiskerprops=line, capprops=line,
            medianprops={"color": MEDIAN, "linewidth": 1.4},
            flierprops={"marker": ".", "markersize": 3, "markeredgecolor": "0.4"},
        )  # fmt: skip
        axes.set_title(result.marked(label), fontsize="medium")
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(axis="y", color="0.9", linewidth=0.6)
        axes.set_axisbelow(True)
        axes.set_xlim(0, result.horizon * 1.03)
    for lowest in panels[max(len(curves) - COLUMNS, 0) : len(curves)]:
        lowest.tick_params(labelbottom=True)
    for empty in panels[len(curves) :]:
        empty.remove()
    figure.suptitle(f"{result.environment}: {result.num_trials} trials", fontsize="large")
    figure.supxlabel("round $t$", fontsize="medium")
    figure.supylabel(metric_named(metric).label, fontsize="medium")
    return figure


def boxed(rounds: Ints) -> Ints:
    """Return the indices of at most `BOXES` evenly spread recorded rounds, the last included."""
    wanted = np.linspace(rounds[-1] / BOXES, rounds[-1], BOXES)
    return np.unique(np.searchsorted(rounds, np.rint(wanted)).clip(max=len(rounds) - 1))
