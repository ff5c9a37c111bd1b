"""Claims that a detector seldom raises an alarm before a change are tested by shares of trials."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from gpbandits.evaluation.result import Result
from gpbandits.evaluation.statistics import bootstrap_interval
from gpbandits.reproductions.verdicts import Row, beyond, interval, of_order, sign_of


@dataclasses.dataclass(frozen=True)
class SeldomBeforeChange:
    """The claim is that few trials have an alarm before their first change.

    Args:
        label: label of the agent.
        at_most: the largest share of the trials that counts as few.
        environment: prefix of the labels of the environments concerned; by default all.
    """

    label: str
    at_most: float
    environment: str = ""

    @property
    def reads(self) -> tuple[int, ...]:
        """Return no rounds, since alarms are recorded once a trial."""
        return ()

    def rows(self, results: Sequence[Result]) -> list[Row]:
        """Return a row for each environment with a result of the agent."""
        return [
            self.row(result)
            for result in results
            if self.label in result.records and result.environment.startswith(self.environment)
        ]

    def row(self, result: Result) -> Row:
        """Return the share of trials with such an alarm, and the verdict."""
        record = result.records[self.label]
        ends = [changes[0] if changes else result.horizon for changes in record.changes]
        early = [bool(alarms) and alarms[0] < end for alarms, end in zip(record.alarms, ends, strict=True)]
        share = bootstrap_interval(np.array(early, dtype=np.float64))
        margin = beyond(share, self.at_most, above=False)
        tested = f"share of trials in which {self.label} alarms before the first change < {self.at_most}"
        return Row(result.environment, tested, interval(share), of_order(sign_of(margin), result.num_trials))
