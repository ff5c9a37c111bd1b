"""Regret at the horizon is fitted as C x^c, with x a number that varies between environments."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import LogFormatter, NullLocator, ScalarFormatter

from bandit_envs.basics.types import Floats
from gpbandits.evaluation.result import Result
from gpbandits.evaluation.statistics import Interval, bootstrap_interval
from gpbandits.evaluation.styles import Style, styles

RESAMPLES = 4000
_DECADES = (2.0, 0.8)  # decades of an axis above which no minor tick, or only some, have labels


class Power(NamedTuple):
    """A power law is constant * x^exponent, with the 95 % interval of the exponent."""

    constant: float
    exponent: Interval

    def __call__(self, x: Floats) -> Floats:
        """Evaluate the power law at each x."""
        return self.constant * x ** float(self.exponent.estimate)


def power_law(regret: Floats, x: Floats, seed: int = 0) -> Power:
    """Fit log mean regret to log x by least squares, (B, n) and (n,), with a bootstrap over trials.

    A resampled trial keeps all its n regrets, which belong to the same functions.
    """
    drawn = np.random.default_rng(seed).integers(len(regret), size=(RESAMPLES, len(regret)))
    means = np.vstack([regret.mean(axis=0), regret[drawn].mean(axis=1)])  # (1 + RESAMPLES, n)
    slope, intercept = np.polyfit(np.log(x), np.log(means).T, 1)
    low, high = np.quantile(slope[1:], [0.025, 0.975])
    return Power(float(np.exp(intercept[0])), Interval(slope[0], low, high))


def final(results: Sequence[Result], label: str) -> Floats:
    """Return the regret of an agent at the horizon of each result, (B, n)."""
    return np.stack([result.regret[label][:, -1] for result in results], axis=1)


def power_figure(
    x: Floats, results: Sequence[Result], name: str, paper: Power, named: str = "the paper"
) -> Figure:
    """Draw mean regrets with intervals on logarithmic axes, our fits and the paper's.

    Args:
        x: the number of each result, (n,).
        results: n results of the same agents and trials.
        name: label of the x axis.
        paper: the paper's fit.
        named: label of the paper's fit.
    """
    figure = Figure(figsize=(6.4, 3.8), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    axes.set(xscale="log", yscale="log", xlabel=name, ylabel="cumulative regret at the horizon")
    agents = results[0].agents
    for label, style in zip(agents, styles(len(agents)), strict=True):
        _draw(axes, x, final(results, label), results[0].marked(label), style)
    axes.plot(x, paper(x), color="0.3", linestyle="--", linewidth=1.2, label=_legend(named, paper))
    if results[0].privileged:
        axes.plot([], [], " ", label="† privileged: given the changes")
    _finish(axes, x)
    return figure


def _draw(axes: Axes, x: Floats, regret: Floats, label: str, style: Style) -> None:
    mean, low, high = bootstrap_interval(regret)
    axes.errorbar(
        x, mean, [mean - low, high - mean], color=style.colour, marker=style.marker, linestyle="", capsize=2
    )
    power = power_law(regret, x)
    axes.plot(x, power(x), color=style.colour, linewidth=1.2, label=_legend(label, power))


def _legend(label: str, power: Power) -> str:
    exponent, low, high = (float(part) for part in power.exponent)
    return f"{label}: exponent {exponent:.2f} [{low:.2f}, {high:.2f}]"


def _finish(axes: Axes, x: Floats) -> None:
    axes.set_xticks(x, [f"{value:.0f}" for value in x])
    axes.yaxis.set_major_formatter(ScalarFormatter())
    axes.yaxis.set_minor_formatter(LogFormatter(minor_thresholds=_DECADES))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.tick_params(axis="y", which="both", labelsize="small")
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(which="both", color="0.9", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.legend(frameon=False, fontsize="small")
