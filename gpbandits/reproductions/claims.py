"""Claims of a paper about agents, detectors and intervals."""

import dataclasses
from collections.abc import Sequence

import numpy as np

from bandit_envs.basics.types import Floats
from gpbandits.evaluation.result import Metric, Result
from gpbandits.evaluation.statistics import bootstrap_interval, paired_difference
from gpbandits.evaluation.table import interval_text
from gpbandits.reproductions.verdicts import UNTESTED, Check, Judged, Paired, Row, of_bar


@dataclasses.dataclass(frozen=True)
class SeldomBeforeChange(Check):
    """The claim is that few trials, at most this share, have an alarm before their first change."""

    label: str
    at_most: float
    environment: str = ""

    def row(self, result: Result) -> Row:
        record = result.records[self.label]
        ends = [changes[0] if changes else result.horizon for changes in record.changes]
        early = [bool(alarms) and alarms[0] < end for alarms, end in zip(record.alarms, ends, strict=True)]
        share = bootstrap_interval(np.array(early, dtype=np.float64))
        tested = f"share of trials in which {self.label} alarms before the first change < {self.at_most}"
        verdict = of_bar(share, self.at_most, False, result.num_trials)
        return Row(result.environment, tested, interval_text(share), verdict)


@dataclasses.dataclass(frozen=True)
class Statement:
    """A statement is a sentence `says` of a paper about a figure, with our reading where the paper is silent.

    Without checks it is not tested, and `reading` says why.
    """

    says: str
    checks: tuple[Check, ...] = ()
    reading: str = ""

    def rows(self, results: Sequence[Result]) -> list[Row]:
        """Return the tests; those of paired differences are not judged yet."""
        return [row for check in self.checks for row in check.rows(results)]

    def judged(self, rows: Sequence[Row]) -> Judged:
        """Return the statement with its judged tests."""
        if not self.checks:
            return Judged(self.says, self.reading, (), UNTESTED)
        return Judged.of(self.says, self.reading, rows)


@dataclasses.dataclass(frozen=True)
class Claim(Check):
    """The claim is that `less` has less of a metric than `more` at a round, or if `alike`, as much.

    The latter holds if no difference is significant, and is weaker evidence the fewer the trials are.
    """

    less: str
    more: str
    metric: Metric = "cumulative"
    at: int | None = None
    alike: bool = False
    environment: str = ""

    @property
    def labels(self) -> tuple[str, ...]:
        return self.less, self.more

    def row(self, result: Result) -> Row:
        curves, column = result.curves(self.metric), result.column_of(self.at)
        tested = (
            f"{self.less} {'=' if self.alike else '<'} {self.more} ({self.metric}{_place(result, self.at)})"
        )
        more, less = (curves[label][:, column] for label in (self.more, self.less))
        return _of_pair(result.environment, tested, more, less, self.alike)


@dataclasses.dataclass(frozen=True)
class Across(Check):
    """The claim is that `less` has less of a metric than `more`, labels of environments, on equal functions.

    It is of one agent, or of two if the one in `more` is `other`.
    """

    label: str
    less: str
    more: str
    metric: Metric = "cumulative"
    at: int | None = None
    other: str = ""

    def rows(self, results: Sequence[Result]) -> list[Row]:
        other = self.other or self.label
        found = {result.environment: result for result in results}
        places = [(self.less, self.label), (self.more, other)]
        played = [(found[name], x) for name, x in places if name in found and x in found[name].records]
        if len(played) < 2:
            return []
        better, worse = (
            result.curves(self.metric)[label][:, result.column_of(self.at)] for result, label in played
        )
        tested = f"{self.less} < {self.more} ({self.metric}{_place(played[0][0], self.at)})"
        labels = self.label if other == self.label else f"{self.label} < {other}"
        return [_of_pair(labels, tested, worse, better)]


def _of_pair(problem: str, tested: str, worse: Floats, better: Floats, alike: bool = False) -> Row:
    """Test a paired difference, shown with its 95 % bootstrap interval."""
    measured = interval_text(paired_difference(worse, better), signed=True)
    return Row(problem, tested, measured, paired=Paired.of(worse, better, alike))


def _place(result: Result, at: int | None) -> str:
    return "" if at is None else f" at t = {result.rounds[result.column_of(at)]}"
