"""Powers of T and K in the regret of GP-UCB-CPD, and tables of regret and detections, from a study's results.

Avanesov (2020), section 4, fits C T^c and C K^c to mean regrets and compares four variants of its algorithm.
What one sees is in docs/reproductions.md.

    gpbandits run examples/studies/avanesov2020-figure-1.toml --out results/horizons
    python examples/papers/avanesov2020.py fit results/horizons --of T --out figure-1.png
    python examples/papers/avanesov2020.py table results/variants --against GP-UCB-CPD --out figure-3.png
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from bandit_envs.basics.types import Floats
from gpbandits import Result
from gpbandits.evaluation.formats import number
from gpbandits.evaluation.plots import regret_figure
from gpbandits.evaluation.statistics import Interval, bootstrap_interval, paired_difference
from gpbandits.reproductions import REPRODUCTIONS
from gpbandits.reproductions.powers import PowerFigure, final, power_figure, power_law

FIGURES = {"T": "avanesov2020-figure-1", "K": "avanesov2020-figure-2"}
DETECTIONS = ("false alarms a run", "missed", "delay")


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
    """The figure that `gpbandits reproduce` draws."""
    shown = REPRODUCTIONS[FIGURES[of]]
    assert isinstance(shown, PowerFigure)
    return power_figure(x, results, shown.axis, shown.printed)


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
    parser.add_argument("--of", choices=tuple(FIGURES), default="T", help="fit a power of this")
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
