"""What each part of an agent is worth: paired differences to the agent with all parts, from a result.

Regret is to the best feasible arm and violation pays for it, so the two are drawn side by side. What one sees
is in docs/field.md.

    gpbandits run examples/studies/composite-ablation.toml --out results/composite
    python examples/papers/ablation.py results/composite/results/*.parquet --out ablation.png
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from gpbandits import Result
from gpbandits.evaluation.formats import COLOURS
from gpbandits.evaluation.result import Metric
from gpbandits.evaluation.statistics import Interval, paired_difference

FULL = "all parts"
METRICS: dict[Metric, str] = {"regret": "regret", "hard_violation": "hard violation"}


def rise(result: Result, label: str, metric: Metric) -> Interval:
    """Final value minus that of the agent with all parts, on the same trials."""
    curves = result.curves(metric)
    return paired_difference(curves[label][:, -1], curves[FULL][:, -1])


def draw(result: Result) -> Figure:
    """A row an agent, a column a metric; intervals are 95 % over trials."""
    labels = [label for label in result.agents if label != FULL]
    figure = Figure(figsize=(7.2, 0.34 * len(labels) + 1.0), layout="constrained")
    FigureCanvasAgg(figure)
    for axes, (metric, name) in zip(figure.subplots(1, 2, sharey=True), METRICS.items(), strict=True):
        _draw_column(axes, [rise(result, label, metric) for label in labels])
        full = result.curves(metric)[FULL][:, -1].mean()
        axes.set_xlabel(f"rise of {name} ({FULL}: {full:.0f})")
        axes.set_yticks(np.arange(len(labels)), [result.marked(label) for label in labels])
    return figure


def _draw_column(axes: Axes, rises: list[Interval]) -> None:
    middle, low, high = np.array([[float(end) for end in interval] for interval in rises]).T
    axes.axvline(0.0, color="0.6", linewidth=0.8)
    axes.errorbar(
        middle,
        np.arange(len(rises)),
        xerr=[middle - low, high - middle],
        fmt="o",
        color=COLOURS[0],
        markersize=4,
        capsize=3,
    )
    axes.set_ylim(len(rises) - 0.5, -0.5)
    axes.spines[["top", "right"]].set_visible(False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("result", type=Path, help="a Parquet file among the results of a study")
    parser.add_argument("--out", type=Path, default=Path("ablation.png"))
    options = parser.parse_args()
    draw(Result.load(options.result)).savefig(options.out, dpi=110)


if __name__ == "__main__":
    main()
