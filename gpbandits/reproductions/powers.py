"""Figures of regret at the horizon: against a number that varies, and on the worst of several families."""

import dataclasses
import re
from collections.abc import Sequence

import numpy as np

from bandit_envs.basics.types import Floats
from gpbandits.evaluation.record import Record
from gpbandits.evaluation.result import Result
from gpbandits.evaluation.statistics import Interval, bootstrap_interval
from gpbandits.evaluation.table import number
from gpbandits.experiments import EnvironmentEntry, Study
from gpbandits.reproductions.base import Findings, Results, shortened
from gpbandits.reproductions.late import Power, final, power_figure, power_law
from gpbandits.reproductions.study_figure import StudyFigure
from gpbandits.reproductions.verdicts import DIFFERS, HOLDS, Row, beyond, interval, of_order, sign_of, table

LONGEST = 10_000  # most rounds of a short version


@dataclasses.dataclass(frozen=True, kw_only=True)
class PowerFigure(StudyFigure):
    """The figure fits regret at the horizon as C x^c over environments labelled "x = 900".

    Args:
        of: symbol of x; T is the actual horizon instead of the label's, since the short version has less.
        axis: label of the x axis.
        printed: the paper's C and c, with the interval of c.
        named: label of the paper's line.
    """

    of: str
    axis: str
    printed: Power
    named: str = "the paper"

    def short(self, study: Study) -> Study:
        """Return the study with fewer trials of up to `LONGEST` rounds, since horizons must differ."""
        return shortened(study, rounds=LONGEST)

    def findings(self, results: Results) -> Findings:
        """Return one figure, a table of regrets by x with the fits, and the judged claims."""
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
            fit = f"{number(power.constant)} {self.of}^c, c = {interval(power.exponent)}"
            means = [interval(bootstrap_interval(column)) for column in regret.T]
            rows.append([results[0].marked(label), *means, fit])
        return table(header, rows)


@dataclasses.dataclass(frozen=True)
class Exponent:
    """The claim is that regret at the horizon grows as a power of x that the paper fits or proves.

    It holds if the two 95 % intervals of the exponent overlap.

    Args:
        label: label of the agent.
        of: symbol of x, see `PowerFigure`.
        printed: the paper's exponent with its interval, a point for a proved one.
    """

    label: str
    of: str
    printed: Interval

    @property
    def reads(self) -> tuple[int, ...]:
        """None: regret at the horizon."""
        return ()

    def rows(self, results: Sequence[Result]) -> list[Row]:
        """One of all results; a line needs two points."""
        if len(results) < 2:
            return []
        ours, theirs = _exponent(results, self.label, self.of), self.printed
        overlap = ours.low <= theirs.high and theirs.low <= ours.high
        tested = f"exponent of {self.of} ({self.label}) = {interval(theirs)}"
        return [Row(_span(results), tested, interval(ours), HOLDS if overlap else DIFFERS)]


@dataclasses.dataclass(frozen=True)
class Growth:
    """The claim is that regret at the horizon grows more slowly than x^bar, or faster.

    Args:
        label: label of the agent.
        of: symbol of x, see `PowerFigure`.
        bar: the exponent of comparison.
        above: the claim is that regret grows faster.
    """

    label: str
    of: str
    bar: float = 1.0
    above: bool = False

    @property
    def reads(self) -> tuple[int, ...]:
        """None: regret at the horizon."""
        return ()

    def rows(self, results: Sequence[Result]) -> list[Row]:
        """One of all results; a line needs two points."""
        if len(results) < 2:
            return []
        ours = _exponent(results, self.label, self.of)
        verdict = of_order(sign_of(beyond(ours, self.bar, self.above)), results[0].num_trials)
        tested = f"exponent of {self.of} ({self.label}) {'>' if self.above else '<'} {self.bar:g}"
        return [Row(_span(results), tested, interval(ours), verdict)]


def _exponent(results: Sequence[Result], label: str, of: str) -> Interval:
    return power_law(final(results, label), variable(results, of)).exponent


def _span(results: Sequence[Result]) -> str:
    return f"{results[0].environment} to {results[-1].environment}"


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
        """Return the findings on the worst environments."""
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
