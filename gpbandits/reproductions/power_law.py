"""Regret at the horizon as a power of a number that varies between environments, C x^c."""

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
_DECADES = (2.0, 0.8)  # from here on no tick between powers of ten has a number, and from there on only some


class Power(NamedTuple):
    """constant x^exponent, with the 95 % interval of the exponent."""

    constant: float
    exponent: Interval

    def __call__(self, x: Floats) -> Floats:
        """The power of each x."""
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


def final(results: Sequence[Result], label: str) -> Floats:
    """Regret at the horizon, (B, n)."""
    return np.stack([result.regret[label][:, -1] for result in results], axis=1)


def power_figure(
    x: Floats, results: Sequence[Result], name: str, paper: Power, named: str = "the paper"
) -> Figure:
    """Mean regrets with intervals on logarithmic axes, our fits and the paper's.

    Args:
        x: of each result, (n,).
        results: n, of the same agents and trials.
        name: of x, for its axis.
        paper: what the paper fits.
        named: what that is called.
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
        axes.plot([], [], " ", label="† privileged: told of the changes")
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
