"""Claims that a detector seldom alarms without a change."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from gpbandits.evaluation.result import Result
from gpbandits.evaluation.statistics import bootstrap_interval
from gpbandits.reproductions.verdicts import Row, beyond, interval, of_order, sign_of


@dataclasses.dataclass(frozen=True)
class SeldomBeforeChange:
    """A trial seldom has an alarm before its first change.

    Args:
        label: of the agent.
        at_most: the share of the trials that counts as seldom.
        environment: the beginning of the labels of the environments that it is about; by default all.
    """

    label: str
    at_most: float
    environment: str = ""

    @property
    def reads(self) -> tuple[int, ...]:
        """None."""
        return ()

    def rows(self, results: Sequence[Result]) -> list[Row]:
        """One an environment in which the agent has played."""
        return [
            self.row(result)
            for result in results
            if self.label in result.records and result.environment.startswith(self.environment)
        ]

    def row(self, result: Result) -> Row:
        """The share of the trials with such an alarm, and whether it is below the bound."""
        record = result.records[self.label]
        ends = [changes[0] if changes else result.horizon for changes in record.changes]
        early = [bool(alarms) and alarms[0] < end for alarms, end in zip(record.alarms, ends, strict=True)]
        share = bootstrap_interval(np.array(early, dtype=np.float64))
        margin = beyond(share, self.at_most, above=False)
        tested = f"share of trials in which {self.label} alarms before the first change < {self.at_most}"
        return Row(result.environment, tested, interval(share), of_order(sign_of(margin), result.num_trials))
