"""Claims of a paper that agents have less regret than others, or as much, and what the trials say to them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from gpbandits.evaluation.result import Metric, Result
from gpbandits.evaluation.statistics import Interval, paired_difference
from gpbandits.reproductions.verdicts import UNTESTED, Check, Judged, Row, interval, of_likeness, of_order


@dataclasses.dataclass(frozen=True)
class Statement:
    """A sentence of a paper about a figure.

    Args:
        says: the sentence, in the paper's terms.
        checks: what it means in numbers; without any it is not tested, and `reading` says why.
        reading: ours, where the paper is silent.
    """

    says: str
    checks: tuple[Check, ...] = ()
    reading: str = ""

    def judged(self, results: Sequence[Result]) -> Judged:
        """With what the results say to it."""
        if not self.checks:
            return Judged(self.says, self.reading, (), UNTESTED)
        rows = [row for check in self.checks for row in check.rows(results)]
        return Judged.of(self.says, self.reading, rows)


@dataclasses.dataclass(frozen=True)
class Claim:
    """`less` has less of a metric than `more` at a round, by the paper.

    Args:
        less, more: labels of agents.
        metric: that is compared.
        at: the round; by default the last.
        alike: the paper says instead that the two do not differ; which holds as long as the trials do not
            tell them apart, and is weaker evidence the fewer these are.
        environment: the beginning of the labels of the environments that it is about; by default all.
    """

    less: str
    more: str
    metric: Metric = "cumulative"
    at: int | None = None
    alike: bool = False
    environment: str = ""

    @property
    def reads(self) -> tuple[int, ...]:
        """The round, unless it is the last."""
        return () if self.at is None else (self.at,)

    def rows(self, results: Sequence[Result]) -> list[Row]:
        """One an environment in which both agents have played."""
        return [self.row(result) for result in results if self.applies_to(result)]

    def applies_to(self, result: Result) -> bool:
        """Whether it is about the environment, and both agents have played there."""
        both = {self.less, self.more} <= result.records.keys()
        return both and result.environment.startswith(self.environment)

    def difference(self, result: Result) -> Interval:
        """`more` minus `less`, paired by trial, with its 95 % bootstrap interval."""
        curves, column = result.curves(self.metric), result.column_of(self.at)
        return paired_difference(curves[self.more][:, column], curves[self.less][:, column])

    def row(self, result: Result) -> Row:
        """The order, the difference and the verdict."""
        difference = self.difference(result)
        verdict_of = of_likeness if self.alike else of_order
        return Row(
            result.environment,
            f"{self.less} {'=' if self.alike else '<'} {self.more} ({self.metric}{_place(result, self.at)})",
            interval(difference, signed=True),
            verdict_of(difference, result.num_trials),
        )


@dataclasses.dataclass(frozen=True)
class Across:
    """An agent has less of a metric in one environment than in another, whose trials have the same functions.

    Args:
        label: of the agent.
        less, more: labels of environments.
        metric, at: as for `Claim`.
    """

    label: str
    less: str
    more: str
    metric: Metric = "cumulative"
    at: int | None = None

    @property
    def reads(self) -> tuple[int, ...]:
        """The round, unless it is the last."""
        return () if self.at is None else (self.at,)

    def rows(self, results: Sequence[Result]) -> list[Row]:
        """One, where the agent has played in both."""
        found = {result.environment: result for result in results if self.label in result.records}
        if not {self.less, self.more} <= found.keys():
            return []
        less, more = (found[name] for name in (self.less, self.more))
        worse, better = (
            each.curves(self.metric)[self.label][:, each.column_of(self.at)] for each in (more, less)
        )
        difference = paired_difference(worse, better)
        tested = f"{self.less} < {self.more} ({self.metric}{_place(less, self.at)})"
        return [
            Row(self.label, tested, interval(difference, signed=True), of_order(difference, less.num_trials))
        ]


def _place(result: Result, at: int | None) -> str:
    return "" if at is None else f" at t = {result.rounds[result.column_of(at)]}"
