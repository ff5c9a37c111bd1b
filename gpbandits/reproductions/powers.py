"""Figures of regret at the horizon: against a number that varies, and on the worst of several families."""

import dataclasses
import re
from collections.abc import Sequence

import numpy as np

from bandit_envs.basics.types import Floats
from gpbandits.evaluation.record import Record
from gpbandits.evaluation.result import Result
from gpbandits.evaluation.statistics import Interval, bootstrap_interval
from gpbandits.evaluation.table import interval_text, number
from gpbandits.experiments import EnvironmentEntry, Study
from gpbandits.reproductions.base import Findings, Results, shortened
from gpbandits.reproductions.late import Power, final, power_figure, power_law
from gpbandits.reproductions.study_figure import StudyFigure
from gpbandits.reproductions.verdicts import DIFFERS, HOLDS, Check, Row, of_bar, table

LONGEST = 10_000  # most rounds of a short version


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
            fit = f"{number(power.constant)} {self.of}^c, c = {interval_text(power.exponent)}"
            means = [interval_text(bootstrap_interval(column)) for column in regret.T]
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
        return [Row(span, tested, interval_text(exponent), verdict)]

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
        return f"= {interval_text(self.printed)}", HOLDS if overlap else DIFFERS


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
    found = [result for _, result in results]
    horizons = sorted({result.horizon for result in found})
    return [_worst([result for result in found if result.horizon == horizon]) for horizon in horizons]


def _worst(results: Sequence[Result]) -> tuple[EnvironmentEntry, Result]:
    label = f"T = {results[0].horizon}"
    records = {agent: _worst_record(results, agent) for agent in results[0].agents}
    entry = EnvironmentEntry("worst", label, {})
    return entry, dataclasses.replace(results[0], environment=label, records=records)


def _worst_record(results: Sequence[Result], agent: str) -> Record:
    return max(results, key=lambda result: result.regret[agent][:, -1].mean()).records[agent]
