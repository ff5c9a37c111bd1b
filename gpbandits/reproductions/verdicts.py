"""What the trials say to the claims of a paper."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from gpbandits.evaluation.result import Result
from gpbandits.evaluation.statistics import Interval
from gpbandits.evaluation.table import number

HOLDS, REVERSED, OPEN, DIFFERS = "holds", "**reversed**", "not told apart", "**differs**"
FEW = "told apart on few trials"  # the other way than the claim has it
MISSING, UNTESTED = "not computed", "not tested"
UNJUDGED = "not judged on so few trials"
FEWEST = 20  # trials, below which nothing is called reversed or different


class Row(NamedTuple):
    """One test of a claim."""

    problem: str
    tested: str
    measured: str
    verdict: str


class Check(Protocol):
    """What a claim means in numbers."""

    @property
    def reads(self) -> tuple[int, ...]:
        """The rounds that it is about beside the last; none for what is recorded once a trial."""
        ...

    def rows(self, results: Sequence[Result]) -> list[Row]:
        """Its tests on those results to which it applies."""
        ...


class Judged(NamedTuple):
    """A sentence of a paper with our reading of it and its tests."""

    says: str
    reading: str
    rows: Sequence[Row]
    verdict: str

    @classmethod
    def of(cls, says: str, reading: str, rows: Sequence[Row]) -> Judged:
        """With the verdict of the rows together."""
        return cls(says, reading, rows, together([row.verdict for row in rows]))

    @property
    def unjudged(self) -> Judged:
        """With what was measured, and no verdict."""
        rows = [row._replace(verdict=UNJUDGED) for row in self.rows]
        return self._replace(rows=rows, verdict=UNJUDGED) if rows else self


def beyond(power: Interval, bar: float, above: bool) -> Interval:
    """How far a number is above a bar, or below it."""
    if above:
        return Interval(power.estimate - bar, power.low - bar, power.high - bar)
    return Interval(bar - power.estimate, bar - power.high, bar - power.low)


def of_order(difference: Interval, trials: int) -> str:
    """What an interval says of a difference that ought to be positive."""
    if difference.low > 0:
        return HOLDS
    if difference.high < 0:
        return REVERSED if trials >= FEWEST else FEW
    return OPEN


def of_likeness(difference: Interval, trials: int) -> str:
    """What an interval says of a difference that ought to be zero."""
    if difference.low <= 0 <= difference.high:
        return HOLDS
    return DIFFERS if trials >= FEWEST else FEW


def together(verdicts: Sequence[str]) -> str:
    """One verdict of several: the only one, or how many there are of each."""
    if not verdicts:
        return MISSING
    order = (HOLDS, OPEN, FEW, DIFFERS, REVERSED)
    counts = {each: verdicts.count(each) for each in order if each in verdicts}
    if len(counts) == 1:
        return verdicts[0]
    return ", ".join(f"{verdict} in {count}" for verdict, count in counts.items()) + f" of {len(verdicts)}"


def interval(values: Interval, signed: bool = False) -> str:
    """An estimate and its interval as text."""
    estimate, low, high = (number(float(part), signed) for part in values)
    return f"{estimate} [{low}, {high}]"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    return "\n".join(f"| {' | '.join(row)} |" for row in [header, ["---"] * len(header), *rows])
