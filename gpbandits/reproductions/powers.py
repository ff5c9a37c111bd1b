"""How regret or violation grows, in late rounds and as a power of a number: claims, and figures of regret."""

import dataclasses
import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogFormatter, NullLocator, ScalarFormatter

from bandit_envs.basics.types import Floats
from bandit_envs.rendering.picture import ShownFigure
from gpbandits.evaluation.formats import LineStyle, number, styles, text
from gpbandits.evaluation.measures import metric_named
from gpbandits.evaluation.panels import tidy
from gpbandits.evaluation.result import Metric, Result
from gpbandits.evaluation.statistics import Interval, bootstrap_interval
from gpbandits.experiments import EnvironmentEntry, Study
from gpbandits.reproductions.study_figure import Findings, Results, StudyFigure, shortened
from gpbandits.reproductions.verdicts import DIFFERS, HOLDS, Check, Row, of_bar, table

LONGEST = 10_000  # most rounds of a short version
RESAMPLES = 4000
_DECADES = (2.0, 0.8)  # decades of an axis above which no minor tick, or only some, have labels
MIDWAY = 0.75  # exponent midway between sqrt(t), the power of bounds, and t
LEAST = 1e-12  # lower limit of a regret, so that its logarithm exists


class Power(NamedTuple):
    """A power law is constant * x^exponent, with the 95 % interval of the exponent."""

    constant: float
    exponent: Interval

    def __call__(self, x: Floats) -> Floats:
        """Evaluate the power law at each x."""
        return self.constant * x ** float(self.exponent.estimate)


def exactly(power: float) -> Interval:
    """Return a proved power as an interval without width."""
    return Interval(*np.full(3, power))


def power_law(regret: Floats, x: Floats, seed: int = 0) -> Power:
    """Fit log mean regret to log x by least squares, (B, n) and (n,), with a bootstrap over trials.

    A resampled trial keeps all its n regrets, which belong to the same functions.
    """
    slope, intercept = np.polyfit(np.log(x), np.log(_means(regret, seed)).T, 1)
    return Power(float(np.exp(intercept[0])), _percentiles(slope))


def final(results: Sequence[Result], label: str) -> Floats:
    """Return the regret of an agent at the horizon of each result, (B, n)."""
    return np.stack([result.regret[label][:, -1] for result in results], axis=1)


def power_figure(
    x: Floats, results: Sequence[Result], name: str, paper: Power, named: str = "the paper"
) -> Figure:
    """Draw mean regrets of results of the same agents and trials at x, (n,), our fits and the paper's."""
    figure = ShownFigure.of_size(6.4, 3.8)
    axes = figure.subplots()
    axes.set(xscale="log", yscale="log", xlabel=name, ylabel="cumulative regret at the horizon")
    agents = results[0].agents
    for label, style in zip(agents, styles(len(agents)), strict=True):
        _draw(axes, x, final(results, label), results[0].marked(label), style)
    axes.plot(x, paper(x), color="0.3", linestyle="--", linewidth=1.2, label=_legend(named, paper))
    if results[0].privileged:
        axes.plot([], [], " ", label="† privileged: given the changes")
    axes.set_xticks(x, [f"{value:.0f}" for value in x])
    axes.yaxis.set_major_formatter(ScalarFormatter())
    axes.yaxis.set_minor_formatter(LogFormatter(minor_thresholds=_DECADES))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.tick_params(axis="y", which="both", labelsize="small")
    tidy(axes, which="both")
    axes.legend(frameon=False, fontsize="small")
    return figure


def _draw(axes: Axes, x: Floats, regret: Floats, label: str, style: LineStyle) -> None:
    mean, low, high = bootstrap_interval(regret)
    axes.errorbar(
        x, mean, [mean - low, high - mean], color=style.colour, marker=style.marker, linestyle="", capsize=2
    )
    power = power_law(regret, x)
    axes.plot(x, power(x), color=style.colour, linewidth=1.2, label=_legend(label, power))


def _legend(label: str, power: Power) -> str:
    exponent, low, high = (float(part) for part in power.exponent)
    return f"{label}: exponent {exponent:.2f} [{low:.2f}, {high:.2f}]"


@dataclasses.dataclass(frozen=True)
class LateGrowth(Check):
    """The claim is that mean regret grows as R_t = a + b t^c in late rounds, with c above 3/4 or below.

    c = log((R_T - R_s) / (R_s - R_r)) / log(T / s) for rounds r < s < T with s / r = T / s, whatever a is:
    1 if each round costs the same, 1/2 for sqrt(t), 0 if each doubling of t costs the same. Its interval is a
    bootstrap over trials, each with its regret in all rounds.

    Args:
        since: r and s; T is the horizon.
        linear: the claim is c > 3/4, midway between sqrt(t) and t, instead of c < 3/4.
    """

    label: str
    since: tuple[int, int]
    linear: bool = False
    environment: str = ""

    @property
    def reads(self) -> tuple[int, ...]:
        return self.since

    def applies_to(self, result: Result) -> bool:
        return result.horizon > self.since[-1] and super().applies_to(result)

    def row(self, result: Result) -> Row:
        columns = [result.column_of(at) for at in (*self.since, None)]
        power = late_power(result.regret[self.label][:, columns], result.horizon / self.since[-1])
        order = ">" if self.linear else "<"
        verdict = of_bar(power, MIDWAY, self.linear, result.num_trials)
        tested = f"late power of t ({self.label}) {order} {MIDWAY}"
        return Row(result.environment, tested, text(power), verdict)


@dataclasses.dataclass(frozen=True)
class Sublinear(Check):
    """The claim is that the size of a mean summed over rounds grows as t^c from round s on, with c below 1.

    c = log |M_T / M_s| / log(T / s), T the horizon, is below 1 if the average over rounds approaches 0 from
    either side. Its interval is a bootstrap over trials.
    """

    label: str
    metric: Metric
    since: int

    @property
    def reads(self) -> tuple[int, ...]:
        return (self.since,)

    def applies_to(self, result: Result) -> bool:
        return result.horizon > self.since and super().applies_to(result)

    def row(self, result: Result) -> Row:
        sums = result.curves(self.metric)[self.label][:, [result.column_of(self.since), -1]]
        power = power_of_size(sums, result.horizon / self.since)
        verdict = of_bar(power, 1.0, False, result.num_trials)
        tested = f"power of t from {self.since} on ({metric_named(self.metric).text}, {self.label}) < 1"
        return Row(result.environment, tested, text(power), verdict)


def power_of_size(sums: Floats, factor: float) -> Interval:
    """Return the exponent c of the size of mean sums up to rounds s and factor * s, (B, 2)."""
    early, late = np.maximum(np.abs(_means(sums, 0)), LEAST).T
    return _percentiles(np.log(late / early) / np.log(factor))


def late_power(regret: Floats, factor: float) -> Interval:
    """Return the exponent c of mean regrets in three rounds, each a factor later than the last, (B, 3)."""
    early, late = np.maximum(np.diff(_means(regret, 0), axis=1), LEAST).T
    return _percentiles(np.log(late / early) / np.log(factor))


def _means(values: Floats, seed: int) -> Floats:
    """Return the means of the trials and of their bootstrap samples, (B, n) -> (1 + RESAMPLES, n)."""
    drawn = np.random.default_rng(seed).integers(len(values), size=(RESAMPLES, len(values)))
    return np.vstack([values.mean(axis=0), values[drawn].mean(axis=1)])


def _percentiles(powers: Floats) -> Interval:
    """Return the first with the percentile interval of the others."""
    low, high = np.quantile(powers[1:], [0.025, 0.975])
    return Interval(powers[0], low, high)


@dataclasses.dataclass(frozen=True, kw_only=True)
class PowerFigure(StudyFigure):
    """The figure fits regret at the horizon as C x^c over environments labelled "x = 900".

    T is the actual horizon instead of the label's, since the short version has less. `printed` are the
    paper's C and c, with the interval of c, and `named` labels their line.
    """

    of: str
    axis: str
    printed: Power
    named: str = "the paper"

    def short(self, study: Study) -> Study:
        """Return the study with fewer trials of up to `LONGEST` rounds, since horizons must differ."""
        return shortened(study, rounds=LONGEST)

    def findings(self, results: Results) -> Findings:
        found = [result for _, result in results]
        if not found:
            return Findings({}, "", self.judged(results))
        x = variable(found, self.of)
        figure = power_figure(x, found, self.axis, self.printed, self.named)
        size = f"{found[0].num_trials} trials, seed {found[0].seed}; cumulative regret at the horizon:"
        return Findings({self.name: figure}, f"{size}\n\n{self._table(x, found)}", self.judged(results))

    def _table(self, x: Floats, results: list[Result]) -> str:
        header = ["agent", *(f"{self.of} = {value:.0f}" for value in x), "fit"]
        rows = []
        for label in results[0].agents:
            regret = final(results, label)
            power = power_law(regret, x)
            fit = f"{number(power.constant)} {self.of}^c, c = {text(power.exponent)}"
            means = [text(bootstrap_interval(column)) for column in regret.T]
            rows.append([results[0].marked(label), *means, fit])
        return table(header, rows)


class OfExponent(Check):
    """A check of the exponent with which regret at the horizon grows in x, see `PowerFigure`."""

    of: str

    def rows(self, results: Sequence[Result]) -> list[Row]:
        """Return one row of all results; a line needs two points."""
        if len(results) < 2:
            return []
        exponent = power_law(final(results, self.label), variable(results, self.of)).exponent
        expected, verdict = self.judge(exponent, results[0].num_trials)
        span = f"{results[0].environment} to {results[-1].environment}"
        tested = f"exponent of {self.of} ({self.label}) {expected}"
        return [Row(span, tested, text(exponent), verdict)]

    def judge(self, exponent: Interval, trials: int) -> tuple[str, str]:
        """Return what is expected of the exponent, and the verdict."""
        raise NotImplementedError


@dataclasses.dataclass(frozen=True)
class Exponent(OfExponent):
    """The claim is a power of x in regret at the horizon; it holds if both 95 % intervals overlap."""

    label: str
    of: str
    printed: Interval

    def judge(self, exponent: Interval, trials: int) -> tuple[str, str]:
        overlap = exponent.low <= self.printed.high and self.printed.low <= exponent.high
        return f"= {text(self.printed)}", HOLDS if overlap else DIFFERS


@dataclasses.dataclass(frozen=True)
class Growth(OfExponent):
    """The claim is that regret at the horizon grows more slowly than x^bar, or if `above` faster."""

    label: str
    of: str
    bar: float = 1.0
    above: bool = False

    def judge(self, exponent: Interval, trials: int) -> tuple[str, str]:
        verdict = of_bar(exponent, self.bar, self.above, trials)
        return f"{'>' if self.above else '<'} {self.bar:g}", verdict


def variable(results: Sequence[Result], of: str) -> Floats:
    """Return the x of each result, (n,)."""
    if of == "T":
        return np.array([float(result.horizon) for result in results])
    digits = [re.findall(rf"^{of} = (\d+)", result.environment) for result in results]
    return np.array([float(found) for (found,) in digits])


@dataclasses.dataclass(frozen=True, kw_only=True)
class WorstFigure(PowerFigure):
    """The figure fits regret at the horizon as C T^c, each agent in its worst environment of each horizon.

    A minimax rate concerns the largest mean regret over functions that may depend on the horizon and on the
    agent. The worst environment is chosen by the mean of all trials, so the largest mean is biased upwards,
    more so for similar environments; bootstrap samples do not choose it again.
    """

    def findings(self, results: Results) -> Findings:
        return super().findings(by_horizon(results))


def by_horizon(results: Results) -> Results:
    """Return one result a horizon, with each agent's record in its worst environment."""
    by: dict[int, list[Result]] = {}
    for _, result in sorted(results, key=lambda pair: pair[1].horizon):
        by.setdefault(result.horizon, []).append(result)
    worst = []
    for horizon, found in by.items():
        records = {
            agent: max(found, key=lambda result: result.regret[agent][:, -1].mean()).records[agent]
            for agent in found[0].agents
        }
        label = f"T = {horizon}"
        whole = dataclasses.replace(found[0], environment=label, records=records)
        worst.append((EnvironmentEntry("worst", label, {}), whole))
    return worst
