"""Alarms are scored by detection delay, missed changes and false alarms.

An alarm detects the change at round c if it is the first in [c, next change); every other alarm is false,
and a change without such an alarm is missed. Rounds count from 0: an alarm in round c rests on one play of
the new segment, and its delay is 0.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bandit_envs.basics.types import Floats, Ints


class Matches(NamedTuple):
    """Matches pair the alarms of one trial with its S - 1 changes."""

    delays: Floats  # (S - 1,) rounds from a change to its detection, NaN where it was missed
    false: Ints  # (n,) rounds of the false alarms


class Detection(NamedTuple):
    """A detection scores one detector in B trials of T rounds."""

    delays: tuple[Floats, ...]  # one array a trial, NaN where a change was missed
    false_alarms: Ints  # (B,) number of false alarms
    horizon: int

    @property
    def mean_delay(self) -> float:
        """Return the mean number of rounds from a change to its detection; NaN without detections."""
        found = self._all[~np.isnan(self._all)]
        return float(found.mean()) if found.size else float("nan")

    @property
    def missed_share(self) -> float:
        """Return the share of the changes that were missed; NaN without changes."""
        return float(np.isnan(self._all).mean()) if self._all.size else float("nan")

    @property
    def false_alarms_a_run(self) -> float:
        """Return the mean number of false alarms a trial."""
        return float(self.false_alarms.mean())

    @property
    def false_alarm_rate(self) -> float:
        """Return the mean number of false alarms a round."""
        return self.false_alarms_a_run / self.horizon

    @property
    def false_run_share(self) -> float:
        """Return the share of the trials with a false alarm."""
        return float((self.false_alarms > 0).mean())

    @property
    def _all(self) -> Floats:
        return np.concatenate(self.delays)


def match_alarms(alarms: Ints, changes: Ints) -> Matches:
    """Match the ascending alarms of a trial with its ascending changes, (n,) and (S - 1,)."""
    segment = np.searchsorted(changes, alarms, side="right")  # 0 before the first change
    first = (segment > 0) & (np.diff(segment, prepend=0) > 0)
    delays = np.full(len(changes), np.nan)
    delays[segment[first] - 1] = alarms[first] - changes[segment[first] - 1]
    return Matches(delays, alarms[~first])


def detection(alarms: Sequence[Ints], changes: Sequence[Ints], horizon: int) -> Detection:
    """Score the alarms of B trials, one array each."""
    matches = [match_alarms(*pair) for pair in zip(alarms, changes, strict=True)]
    false = np.array([len(match.false) for match in matches], dtype=np.int64)
    return Detection(tuple(match.delays for match in matches), false, horizon)
