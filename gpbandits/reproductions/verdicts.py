"""Claims of a paper, their tests, and verdicts, corrected for the number of tests of a figure."""

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bandit_envs.basics.types import Floats
from gpbandits.evaluation import statistics
from gpbandits.evaluation.formats import text
from gpbandits.evaluation.measures import metric_named
from gpbandits.evaluation.result import Metric, Result

HOLDS, REVERSED, OPEN, DIFFERS = "holds", "**reversed**", "no significant difference", "**differs**"
FEW = "significantly different on few trials"  # contrary to the claim
MISSING, UNTESTED = "not computed", "not tested"
UNJUDGED = "not judged on so few trials"
FEWEST = 20  # trials, below which nothing is called reversed or different
LEVEL = 0.05  # of the tests of a figure together

Test = tuple[float, float, int]  # |mean|, p-value and trials, which identify a test


class Paired(NamedTuple):
    """A paired difference of two agents on the same trials, with the sign that a claim expects."""

    mean: float  # expected to be positive, or zero if `alike`
    p_value: float  # of the hypothesis of no difference, by flips of sign
    trials: int
    equal: bool  # the claim is that there is no difference

    @property
    def test(self) -> Test:
        """Identify the test, independently of the order of the agents."""
        return abs(self.mean), self.p_value, self.trials

    def verdict(self, p_value: float) -> str:
        """Judge by a p-value that is corrected for the other tests; NaN leaves the verdict open."""
        if np.isnan(p_value):
            return OPEN
        sign = float(np.sign(self.mean)) if p_value <= LEVEL else 0.0
        return of_likeness(sign, self.trials) if self.equal else of_order(sign, self.trials)


class Row(NamedTuple):
    """A row is one test of a claim; paired differences are judged together with the others of the figure."""

    problem: str
    tested: str
    measured: str
    verdict: str = MISSING
    paired: Paired | None = None
    p_value: str = ""  # corrected, as text


class Check:
    """A check tests a claim on results, by default in each environment with results of its agents.

    Its subclasses have the label of an agent or of two, the round of the test (by default the last), and a
    prefix of the labels of the environments concerned (by default of all).
    """

    label: str
    at: int | None = None
    environment: str = ""

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the labels of the agents."""
        return (self.label,)

    @property
    def reads(self) -> tuple[int, ...]:
        """Return the rounds that the check uses beside the last."""
        return () if self.at is None else (self.at,)

    def applies_to(self, result: Result) -> bool:
        """Return True if the claim concerns the environment, and its agents have results there."""
        return {*self.labels} <= result.records.keys() and result.environment.startswith(self.environment)

    def rows(self, results: Sequence[Result]) -> list[Row]:
        """Return the tests on the results to which the claim applies."""
        return [self.row(result) for result in results if self.applies_to(result)]

    def row(self, result: Result) -> Row:
        """Return the test on one result."""
        raise NotImplementedError


class Judged(NamedTuple):
    """A judged sentence of a paper holds our reading, the tests and the verdict."""

    says: str
    reading: str
    rows: Sequence[Row]
    verdict: str

    @classmethod
    def of(cls, says: str, reading: str, rows: Sequence[Row]) -> "Judged":
        """Judge a sentence by the verdicts of its rows."""
        return cls(says, reading, rows, together([row.verdict for row in rows]))

    @property
    def unjudged(self) -> "Judged":
        """Return the measurements without verdicts."""
        rows = [row._replace(verdict=UNJUDGED) for row in self.rows]
        return self._replace(rows=rows, verdict=UNJUDGED) if rows else self


def of_bar(values: statistics.Interval, bar: float, above: bool, trials: int) -> str:
    """Judge the claim that a number is above a bar, or below it; an interval around the bar is open."""
    sign = int(values.low > bar) - int(values.high < bar)
    return of_order(sign if above else -sign, trials)


def of_order(sign: float, trials: int) -> str:
    """Judge a difference that is claimed to be positive by its significant sign, 0 without one."""
    if sign > 0:
        return HOLDS
    if sign < 0:
        return REVERSED if trials >= FEWEST else FEW
    return OPEN


def of_likeness(sign: float, trials: int) -> str:
    """Judge a difference that is claimed to be zero by its significant sign, 0 without one."""
    if sign == 0:
        return HOLDS
    return DIFFERS if trials >= FEWEST else FEW


def corrected(rows: Sequence[Row]) -> list[Row]:
    """Judge the paired differences of a figure by Holm's p-values; a test of two sentences counts once."""
    p_values = {row.paired.test: row.paired.p_value for row in rows if row.paired}
    adjusted = dict(zip(p_values, statistics.holm(list(p_values.values())), strict=True))
    judged = []
    for row in rows:
        if row.paired:
            p_value = adjusted.get(row.paired.test, float("nan"))  # NaN p-values never match a key
            row = row._replace(verdict=row.paired.verdict(p_value), p_value=f"{p_value:.2g}")
        judged.append(row)
    return judged


def together(verdicts: Sequence[str]) -> str:
    """Combine verdicts: the common one, or the count of each."""
    if not verdicts:
        return MISSING
    order = (HOLDS, OPEN, FEW, DIFFERS, REVERSED)
    counts = {each: verdicts.count(each) for each in order if each in verdicts}
    if len(counts) == 1:
        return verdicts[0]
    return ", ".join(f"{verdict} in {count}" for verdict, count in counts.items()) + f" of {len(verdicts)}"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table."""
    return "\n".join(f"| {' | '.join(row)} |" for row in [header, ["---"] * len(header), *rows])


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
        share = statistics.bootstrap_interval(np.array(early, dtype=np.float64))
        tested = f"share of trials in which {self.label} alarms before the first change < {self.at_most}"
        verdict = of_bar(share, self.at_most, False, result.num_trials)
        return Row(result.environment, tested, text(share), verdict)


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
    metric: Metric = "regret"
    at: int | None = None
    equal: bool = False
    environment: str = ""

    @property
    def labels(self) -> tuple[str, ...]:
        return self.less, self.more

    def row(self, result: Result) -> Row:
        more, less = (_values(self, result, label) for label in (self.more, self.less))
        tested = f"{self.less} {'=' if self.equal else '<'} {self.more} ({_measure(self, result)})"
        return _of_pair(result.environment, tested, more, less, self.equal)


@dataclasses.dataclass(frozen=True)
class Across(Check):
    """The claim is that `less` has less of a metric than `more`, labels of environments, on equal functions.

    It is of one agent, or of two if the one in `more` is `other`.
    """

    label: str
    less: str
    more: str
    metric: Metric = "regret"
    at: int | None = None
    other: str = ""

    def rows(self, results: Sequence[Result]) -> list[Row]:
        other = self.other or self.label
        found = {result.environment: result for result in results}
        places = [(self.less, self.label), (self.more, other)]
        played = [(found[name], x) for name, x in places if name in found and x in found[name].records]
        if len(played) < 2:
            return []
        better, worse = (_values(self, *each) for each in played)
        tested = f"{self.less} < {self.more} ({_measure(self, played[0][0])})"
        labels = self.label if other == self.label else f"{self.label} < {other}"
        return [_of_pair(labels, tested, worse, better)]


def _of_pair(problem: str, tested: str, worse: Floats, better: Floats, equal: bool = False) -> Row:
    """Test a paired difference, shown with its 95 % bootstrap interval."""
    measured = text(statistics.paired_difference(worse, better), signed=True)
    p_value = statistics.sign_flip_test(worse, better)
    paired = Paired(float(np.mean(worse - better)), p_value, len(worse), equal)
    return Row(problem, tested, measured, paired=paired)


def _values(claim: Claim | Across, result: Result, label: str) -> Floats:
    return result.curves(claim.metric)[label][:, result.column_of(claim.at)]


def _measure(claim: Claim | Across, result: Result) -> str:
    place = "" if claim.at is None else f" at t = {result.rounds[result.column_of(claim.at)]}"
    return f"{metric_named(claim.metric).text}{place}"
