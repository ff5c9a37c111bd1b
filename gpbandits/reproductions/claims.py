"""Claims of a paper that agents have less regret than others, or as much, and what the trials say to them."""

import dataclasses

from gpbandits.evaluation.result import Metric, Result
from gpbandits.evaluation.statistics import Interval, paired_difference
from gpbandits.evaluation.table import number

HOLDS, REVERSED, OPEN, DIFFER = "holds", "**reversed**", "not told apart", "**they differ**"


@dataclasses.dataclass(frozen=True)
class Claim:
    """`less` has less of a metric than `more` at a round, by the paper.

    Args:
        less, more: labels of agents.
        metric: that is compared.
        at: the round; by default the last.
        alike: the paper says instead that the two do not differ; which holds as long as the trials do not
            tell them apart, and is weaker evidence the fewer these are.
    """

    less: str
    more: str
    metric: Metric = "cumulative"
    at: int | None = None
    alike: bool = False

    def difference(self, result: Result) -> Interval:
        """`more` minus `less`, paired by trial, with its 95 % bootstrap interval."""
        curves, column = result.curves(self.metric), column_of(result, self.at)
        return paired_difference(curves[self.more][:, column], curves[self.less][:, column])

    def applies_to(self, result: Result) -> bool:
        """Whether both agents have played."""
        return {self.less, self.more} <= result.records.keys()

    def row(self, result: Result) -> str:
        """A line of Markdown: the claim, the difference and the verdict."""
        difference = self.difference(result)
        place = "" if self.at is None else f" at t = {result.rounds[column_of(result, self.at)]}"
        parts = (
            result.environment,
            f"{self.less} {'=' if self.alike else '<'} {self.more} ({self.metric}{place})",
            interval(difference, signed=True),
            verdict(difference, self.alike),
        )
        return f"| {' | '.join(parts)} |"


def column_of(result: Result, at: int | None) -> int:
    """Index of the last recorded round up to `at`."""
    return -1 if at is None else max(int((result.rounds <= at).sum()) - 1, 0)


def verdict(difference: Interval, alike: bool = False) -> str:
    """What an interval of a difference says that ought to be positive, or zero if `alike`."""
    if alike:
        return HOLDS if difference.low <= 0 <= difference.high else DIFFER
    return HOLDS if difference.low > 0 else REVERSED if difference.high < 0 else OPEN


def interval(values: Interval, signed: bool = False) -> str:
    """An estimate and its interval as text."""
    estimate, low, high = (number(float(part), signed) for part in values)
    return f"{estimate} [{low}, {high}]"
