"""Claims of a paper that agents have less regret than others, or as much, and what the trials say to them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from bandit_envs.basics.types import Floats
from gpbandits.evaluation.result import Metric, Result
from gpbandits.evaluation.statistics import paired_difference
from gpbandits.reproductions.verdicts import UNTESTED, Check, Judged, Paired, Row, interval


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

    def rows(self, results: Sequence[Result]) -> list[Row]:
        """Its tests, those of paired differences not judged yet."""
        return [row for check in self.checks for row in check.rows(results)]

    def judged(self, rows: Sequence[Row]) -> Judged:
        """With its tests, judged."""
        if not self.checks:
            return Judged(self.says, self.reading, (), UNTESTED)
        return Judged.of(self.says, self.reading, rows)


@dataclasses.dataclass(frozen=True)
class Claim:
    """`less` has less of a metric than `more` at a round, by the paper.

    Args:
        less, more: labels of agents.
        metric: that is compared.
        at: the round; by default the last.
        alike: the paper says instead that the two do not differ; which holds as long as no difference is
            significant, and is weaker evidence the fewer the trials are.
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

    def row(self, result: Result) -> Row:
        """Test the order by `more` minus `less`, paired by trial."""
        curves, column = result.curves(self.metric), result.column_of(self.at)
        tested = (
            f"{self.less} {'=' if self.alike else '<'} {self.more} ({self.metric}{_place(result, self.at)})"
        )
        more, less = (curves[label][:, column] for label in (self.more, self.less))
        return _of_pair(result.environment, tested, more, less, self.alike)


@dataclasses.dataclass(frozen=True)
class Across:
    """An agent has less of a metric in one environment than in another, whose trials have the same functions.

    Args:
        label: of the agent.
        less, more: labels of environments.
        metric, at: as for `Claim`.
        other: label of the agent in the environment `more`; by default the same.
    """

    label: str
    less: str
    more: str
    metric: Metric = "cumulative"
    at: int | None = None
    other: str = ""

    @property
    def reads(self) -> tuple[int, ...]:
        """The round, unless it is the last."""
        return () if self.at is None else (self.at,)

    def rows(self, results: Sequence[Result]) -> list[Row]:
        """One, where the agents have played in both."""
        other = self.other or self.label
        found = {result.environment: result for result in results}
        places = [(found[name], label) for name, label in self._places(other) if name in found]
        played = [(result, label) for result, label in places if label in result.records]
        if len(played) < 2:
            return []
        better, worse = (
            result.curves(self.metric)[label][:, result.column_of(self.at)] for result, label in played
        )
        tested = f"{self.less} < {self.more} ({self.metric}{_place(played[0][0], self.at)})"
        labels = self.label if other == self.label else f"{self.label} < {other}"
        return [_of_pair(labels, tested, worse, better)]

    def _places(self, other: str) -> tuple[tuple[str, str], tuple[str, str]]:
        return (self.less, self.label), (self.more, other)


def _of_pair(problem: str, tested: str, worse: Floats, better: Floats, alike: bool = False) -> Row:
    """Test a difference, shown with its 95 % bootstrap interval."""
    measured = interval(paired_difference(worse, better), signed=True)
    return Row(problem, tested, measured, paired=Paired.of(worse, better, alike))


def _place(result: Result, at: int | None) -> str:
    return "" if at is None else f" at t = {result.rounds[result.column_of(at)]}"
