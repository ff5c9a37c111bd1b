"""Who is better at which round of a study of delays: means and differences paired by trial, and their curves.

    gpbandits run examples/studies/verma2022-figures-1-5-poisson.toml --out results/figure-1
    python examples/papers/verma2022.py results/figure-1 --against GP-UCB-SDF --rounds 50 100

prints one Markdown table an environment: the simple regret of each agent at these rounds, and its difference
to the agent named, with 95 % bootstrap intervals. `--metric regret` does the same for cumulative regret,
`--only` takes some environments, `--plus` adds a number to every regret (the least validation error, to turn
regret into validation error), and `--figure` draws both metrics instead. docs/reproductions.md is made of
these tables and figures.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from gpbandits import Result
from gpbandits.evaluation.formats import number, styles
from gpbandits.evaluation.result import Metric
from gpbandits.evaluation.statistics import Interval, bootstrap_interval, paired_difference

METRICS: tuple[Metric, ...] = ("simple_regret", "regret")


def main() -> None:
    """Print the tables of a folder of results, or draw its curves."""
    given = options()
    paths = sorted((given.results / "results").glob("*.parquet"))
    results = [Result.load(path) for path in paths]
    chosen = [result for result in results if not given.only or result.environment in given.only]
    if given.figure:
        figure(chosen, given.agents).savefig(given.figure, dpi=100)
    else:
        for result in chosen:
            print(f"\n### {result.environment} ({result.num_trials} trials, seed {result.seed})\n")
            print("\n".join(table(result, given)))


def options() -> argparse.Namespace:
    """What is asked for."""
    parser = argparse.ArgumentParser(description="Regret of a study and its paired differences.")
    parser.add_argument("results", type=Path, help="folder that `gpbandits run --out` wrote")
    parser.add_argument("--against", help="label of the agent that the others are compared to")
    parser.add_argument("--rounds", type=int, nargs="+", default=[50, 100, 500])
    parser.add_argument("--metric", choices=METRICS, default="simple_regret")
    parser.add_argument("--plus", type=float, default=0.0, help="added to every regret, not to differences")
    parser.add_argument("--only", nargs="+", default=[], help="labels of environments")
    parser.add_argument("--agents", nargs="+", default=[], help="labels of agents")
    parser.add_argument("--figure", type=Path, help="draw here instead of printing")
    return parser.parse_args()


def table(result: Result, given: argparse.Namespace) -> list[str]:
    """Lines of Markdown, one row an agent: regret at each round, then minus that of `against`."""
    curves, columns = result.curves(given.metric), [column(result, t) for t in given.rounds]
    labels = given.agents or result.agents
    against = given.against or labels[0]
    lines = [row(["agent", *(f"t = {t}" for t in given.rounds), *(f"minus, t = {t}" for t in given.rounds)])]
    lines.append(row(["---"] * (1 + 2 * len(columns))))
    for label in labels:
        means = [text(bootstrap_interval(curves[label][:, i] + given.plus)) for i in columns]
        pairs = [(curves[label][:, i], curves[against][:, i]) for i in columns]
        differences = ["-" if label == against else text(paired_difference(*p), signed=True) for p in pairs]
        lines.append(row([label, *means, *differences]))
    return lines


def column(result: Result, t: int) -> int:
    """Index of round t, or of the last recorded one before it."""
    return int((result.rounds <= t).sum()) - 1


def text(interval: Interval, signed: bool = False) -> str:
    """An estimate and its interval."""
    estimate, low, high = (number(float(end), signed) for end in interval)
    return f"{estimate} [{low}, {high}]"


def row(cells: list[str]) -> str:
    """A line of Markdown."""
    return f"| {' | '.join(cells)} |"


def figure(results: list[Result], labels: list[str]) -> Figure:
    """Simple regret above and cumulative regret below, one column an environment."""
    drawn = Figure(figsize=(3.6 * len(results), 5.4), layout="constrained")
    FigureCanvasAgg(drawn)
    axes: Any = drawn.subplots(2, len(results), squeeze=False, sharex="col", sharey="row")
    for metric, line in zip(METRICS, axes, strict=True):
        for result, panel in zip(results, line, strict=True):
            draw(panel, result, metric, labels or result.agents)
        line[0].set_ylabel(f"{metric} regret")
    for result, top, bottom in zip(results, *axes, strict=True):
        top.set_title(result.environment, fontsize=10)
        top.set_yscale("symlog", linthresh=1e-3)
        top.set_ylim(0.0, 1.0)
        bottom.set_xlabel("round t")
    axes[1, 0].legend(frameon=False, fontsize=8)
    return drawn


def draw(panel: Axes, result: Result, metric: Metric, labels: list[str]) -> None:
    """Means with 95 % bootstrap bands."""
    for label, (colour, dashes, _) in zip(labels, styles(len(labels)), strict=True):
        mean, low, high = bootstrap_interval(result.curves(metric)[label])
        panel.fill_between(result.rounds, low, high, color=colour, alpha=0.18, linewidth=0)
        panel.plot(result.rounds, mean, color=colour, linestyle=dashes, linewidth=1.3, label=label)
    panel.grid(alpha=0.25)
    panel.set_xlim(0, result.horizon)


if __name__ == "__main__":
    main()
