"""Box plots of every method over runs, and the trade-off of L and S, from the results of the studies.

Shi & Eryilmaz (2022), Appendix E, draw the time averages of regret and violation as box plots every 20
rounds, and in Figure 1 the two at the horizon for several (L, S). What one sees is in
docs/reproductions.md.

    gpbandits run examples/studies/shi2022-figures-2-3.toml --out results/shi
    python examples/papers/shi2022.py boxes results/shi/results/*.parquet --out boxes.png
    python examples/papers/shi2022.py trade-off results/shi-1/results/*.parquet --out trade-off.png
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from bandit_envs.basics.types import Floats, Ints
from gpbandits import Result
from gpbandits.evaluation.formats import COLOURS, MARKERS
from gpbandits.evaluation.result import Metric
from gpbandits.evaluation.statistics import bootstrap_interval

EVERY = 20  # rounds between boxes
LABELS: dict[Metric, str] = {"average_regret": "regret / t", "average_violation": "violation / t"}


def draw_boxes(result: Result, labels: list[str]) -> Figure:
    """A column an agent; regret above violation, with scales that the columns share."""
    figure = Figure(figsize=(2.1 * len(labels) + 0.6, 4.2), layout="constrained")
    FigureCanvasAgg(figure)
    rows = figure.subplots(2, len(labels), sharex=True, sharey="row", squeeze=False)
    for row, (metric, name) in zip(rows, LABELS.items(), strict=True):
        curves = result.curves(metric)
        for axes, label in zip(row, labels, strict=True):
            _draw_box(axes, result.rounds, curves[label])
        row[0].set_ylabel(name)
    for axes, label in zip(rows[0], labels, strict=True):
        axes.set_title(label.replace(", ", ",\n", 1), fontsize="small")
    for axes in rows[1]:
        axes.set_xlabel("round t")
    return figure


def draw_trade_off(result: Result, labels: list[str]) -> Figure:
    """Final averages with their intervals; agents of a family, "family, S = 20", share a line."""
    figure = Figure(figsize=(5.2, 3.6), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    families: dict[str, list[str]] = {}
    for label in labels:
        families.setdefault(label.split(", S")[0], []).append(label)
    for (family, members), colour, marker in zip(families.items(), COLOURS, MARKERS, strict=False):
        _draw_family(axes, result, family, members, colour, marker)
    axes.set(xlabel="average violation at the horizon", ylabel="average regret at the horizon")
    axes.axhline(0.0, color="0.6", linewidth=0.8)
    axes.legend(frameon=False)
    _finish(axes)
    return figure


def _draw_box(axes: Axes, rounds: Ints, values: Floats) -> None:
    shown = rounds[rounds % EVERY == 0]
    axes.boxplot(
        values[:, rounds % EVERY == 0],
        positions=shown,
        widths=0.6 * EVERY,
        manage_ticks=False,
        flierprops={"marker": ".", "markersize": 3, "markeredgecolor": COLOURS[1]},
        medianprops={"color": COLOURS[0], "linewidth": 1.4},
    )
    axes.plot(rounds, values.mean(axis=0), color=COLOURS[2], linewidth=1, linestyle="--")
    axes.axhline(0.0, color="0.6", linewidth=0.8)
    _finish(axes)


def _draw_family(
    axes: Axes, result: Result, family: str, labels: list[str], colour: str, marker: str
) -> None:
    x, y = (
        np.stack([np.stack(bootstrap_interval(result.curves(metric)[label][:, -1])) for label in labels]).T
        for metric in ("average_violation", "average_regret")
    )  # (3, number of labels): mean, low, high
    errors = [np.abs(ends[1:] - ends[0]) for ends in (x, y)]
    axes.errorbar(
        x[0],
        y[0],
        errors[1],
        errors[0],
        color=colour,
        marker=marker,
        linewidth=1.2,
        elinewidth=0.7,
        label=family,
    )
    for label, place in zip(labels, zip(x[0], y[0], strict=True), strict=True):
        size = re.search(r"S = \d+", label)
        axes.annotate(
            size[0] if size else label,
            place,
            (5, 4),
            textcoords="offset points",
            fontsize="small",
            color=colour,
        )


def _finish(axes: Axes) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(color="0.9", linewidth=0.6)
    axes.set_axisbelow(True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("figure", choices=("boxes", "trade-off"))
    parser.add_argument("result", type=Path, help="a Parquet file among the results of a study")
    parser.add_argument("--agents", nargs="*", help="labels to draw; default all")
    parser.add_argument("--out", type=Path, default=Path("shi2022.png"))
    options = parser.parse_args()
    result = Result.load(options.result)
    labels = options.agents or result.agents
    if unknown := set(labels) - set(result.agents):
        parser.error(f"unknown agents {sorted(unknown)}; the result has {result.agents}")
    draw = draw_boxes if options.figure == "boxes" else draw_trade_off
    draw(result, labels).savefig(options.out, dpi=110)


if __name__ == "__main__":
    main()
