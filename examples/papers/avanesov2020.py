"""Powers of T and K in the regret of GP-UCB-CPD, and tables of regret and detections, from a study's results.

Avanesov (2020), section 4, fits C T^c and C K^c to mean regrets and compares four variants of its algorithm.
What one sees is in docs/studies-changes.md.

    gpbandits run examples/studies/avanesov2020-figure-1.toml --out results/horizons
    python examples/papers/avanesov2020.py fit results/horizons --of T --out figure-1.png
    python examples/papers/avanesov2020.py table results/variants --against GP-UCB-CPD --out figure-3.png
"""

from __future__ import annotations

import argparse
import re
from itertools import cycle
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator, ScalarFormatter

from bandit_envs.evaluation import Result
from bandit_envs.evaluation.plots import COLOURS, MARKERS, regret_figure
from bandit_envs.evaluation.statistics import Interval, bootstrap_interval, paired_difference
from bandit_envs.evaluation.table import number
from bandit_envs.types import Floats

PAPER = {"T": (1.86, 0.74, (0.64, 0.84)), "K": (502.0, 0.282, (0.21, 0.35))}  # C, c and its interval
NAMES = {"T": "horizon $T$, three periods", "K": "stationary periods $K$, $T = 2700$"}
DETECTIONS = ("false alarms a run", "missed", "delay")
RESAMPLES = 4000


class Power(NamedTuple):
    """constant x^exponent, with the 95 % interval of the exponent."""

    constant: float
    exponent: Interval

    def __call__(self, x: Floats) -> Floats:
        return self.constant * x ** float(self.exponent.estimate)


def power_law(regret: Floats, x: Floats, seed: int = 0) -> Power:
    """Least squares of log mean regret on log x, (B, n) and (n,), with a percentile bootstrap over trials.

    A trial is drawn with all its n regrets, which are of the same functions.
    """
    drawn = np.random.default_rng(seed).integers(len(regret), size=(RESAMPLES, len(regret)))
    means = np.vstack([regret.mean(axis=0), regret[drawn].mean(axis=1)])  # (1 + RESAMPLES, n)
    slope, intercept = np.polyfit(np.log(x), np.log(means).T, 1)
    low, high = np.quantile(slope[1:], [0.025, 0.975])
    return Power(float(np.exp(intercept[0])), Interval(slope[0], low, high))


def series(folder: Path, of: str) -> tuple[Floats, list[Result]]:
    """The results whose label begins with "T = " or "K = ", by that number, (n,) and n."""
    found = {}
    for path in (folder / "results").glob("*.parquet"):
        result = Result.load(path)
        if match := re.match(rf"{of} = (\d+)", result.environment):
            found[float(match[1])] = result
    if len(found) < 2:
        raise SystemExit(f"a fit needs two results whose labels begin with '{of} = ', found {len(found)}")
    return np.array(sorted(found)), [found[x] for x in sorted(found)]


def final(results: list[Result], label: str) -> Floats:
    """Regret at the horizon, (B, n)."""
    return np.stack([result.regret[label][:, -1] for result in results], axis=1)


def print_fit(of: str, x: Floats, results: list[Result]) -> None:
    """One table an agent, under it the power law."""
    for label in results[0].agents:
        power = power_law(final(results, label), x)
        print(f"\n{results[0].marked(label)}: {number(power.constant)} {of}^{text(power.exponent)}\n")
        print(row([of, "regret", *DETECTIONS]))
        print(row(["---"] * (2 + len(DETECTIONS))))
        for value, result in zip(x, results, strict=True):
            regret = bootstrap_interval(result.regret[label][:, -1])
            print(row([f"{value:.0f}", text(regret), *detections(result, label)]))


def print_table(result: Result, against: str) -> None:
    """Regret, its difference to an agent's and the detections of every agent."""
    print(row(["agent", "regret", f"minus {against}", *DETECTIONS]))
    print(row(["---"] * (3 + len(DETECTIONS))))
    regret = {label: curve[:, -1] for label, curve in result.regret.items()}
    for label in result.agents:
        difference = text(paired_difference(regret[label], regret[against]), signed=True)
        cells = [text(bootstrap_interval(regret[label])), "-" if label == against else difference]
        print(row([result.marked(label), *cells, *detections(result, label)]))


def detections(result: Result, label: str) -> list[str]:
    """False alarms a run, share of missed changes and mean delay, or dashes."""
    if label not in result.detections:
        return ["-"] * len(DETECTIONS)
    found = result.detections[label]
    false = bootstrap_interval(found.false_alarms.astype(np.float64))
    return [text(false), f"{100 * found.missed_share:.0f} %", f"{found.mean_delay:.0f}"]


def draw_fit(of: str, x: Floats, results: list[Result]) -> Figure:
    """Mean regrets with intervals on logarithmic axes, our fits and the paper's."""
    figure = Figure(figsize=(6.4, 3.8), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    axes.set(xscale="log", yscale="log", xlabel=NAMES[of], ylabel="cumulative regret at the horizon")
    for label, colour, marker in zip(results[0].agents, cycle(COLOURS), cycle(MARKERS), strict=False):
        _draw_power(axes, x, final(results, label), results[0].marked(label), colour, marker)
    constant, exponent, interval = PAPER[of]
    printed = f"the paper: {constant:g} {of}$^{{{exponent}}}$ {list(interval)}"
    axes.plot(x, constant * x**exponent, color="0.3", linestyle="--", linewidth=1.2, label=printed)
    if results[0].privileged:
        axes.plot([], [], " ", label="† privileged: told of the changes")
    _finish(axes, x)
    return figure


def _draw_power(axes: Axes, x: Floats, regret: Floats, label: str, colour: str, marker: str) -> None:
    mean, low, high = bootstrap_interval(regret)
    axes.errorbar(x, mean, [mean - low, high - mean], color=colour, marker=marker, linestyle="", capsize=2)
    power = power_law(regret, x)
    exponent, low, high = (float(part) for part in power.exponent)
    axes.plot(
        x,
        power(x),
        color=colour,
        linewidth=1.2,
        label=f"{label}: exponent {exponent:.2f} [{low:.2f}, {high:.2f}]",
    )


def _finish(axes: Axes, x: Floats) -> None:
    axes.set_xticks(x, [f"{value:.0f}" for value in x])
    axes.yaxis.set_major_formatter(ScalarFormatter())
    axes.yaxis.set_minor_formatter(ScalarFormatter())
    axes.xaxis.set_minor_locator(NullLocator())
    axes.tick_params(axis="y", which="both", labelsize="small")
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(which="both", color="0.9", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.legend(frameon=False, fontsize="small")


def text(interval: Interval, signed: bool = False) -> str:
    """An estimate and its interval."""
    estimate, low, high = (number(float(end), signed) for end in interval)
    return f"{estimate} [{low}, {high}]"


def row(cells: list[str]) -> str:
    """A line of Markdown."""
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("what", choices=("fit", "table"))
    parser.add_argument("results", type=Path, help="folder that `gpbandits run --out` wrote")
    parser.add_argument("--of", choices=tuple(PAPER), default="T", help="fit a power of this")
    parser.add_argument("--against", help="label of the agent that the others are compared to")
    parser.add_argument("--out", type=Path, help="draw a figure here as well")
    options = parser.parse_args()
    if options.what == "fit":
        x, results = series(options.results, options.of)
        print_fit(options.of, x, results)
        figure = draw_fit(options.of, x, results)
    else:
        result = Result.load(next((options.results / "results").glob("*.parquet")))
        print_table(result, options.against or result.agents[0])
        figure = regret_figure(result)
    if options.out:
        figure.savefig(options.out, dpi=130)


if __name__ == "__main__":
    main()
