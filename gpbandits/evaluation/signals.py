"""What agents say beside their plays, and what it is worth: alarms of changes, and stops of rules.

An alarm detects the change at round c if it is the first in [c, next change); every other alarm is false,
and a change without such an alarm is missed. Rounds count from 0: an alarm in round c rests on one play of
the new segment, and its delay is 0.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from agents.stopping.by_name import NEVER, Stops
from bandit_envs.basics.types import Bools, Floats, Ints


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
        return float(found.mean()) if found.size else np.nan

    @property
    def missed_share(self) -> float:
        """Return the share of the changes that were missed; NaN without changes."""
        return float(np.isnan(self._all).mean()) if self._all.size else np.nan

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


class Stopped(NamedTuple):
    """One rule in B trials. Where it never stopped, everything is of the end of the run."""

    after: Ints  # (B,) rounds until the stop; -1 never
    regret: Floats  # (B,) f* - f(j) of the recommended play j
    violation: Floats  # (B,) norm of its costs' positive part
    paid: Floats  # (B,) true cost of the plays until the stop; their number where they are free
    hindsight: Floats  # (B,) least cost-adjusted simple regret of any round; NaN without a price
    price: float | None
    promise: float | None  # eps

    def adjusted(self, price: float) -> Floats:
        """Return the cost-adjusted simple regret, (B,)."""
        return self.regret + price * self.paid

    @property
    def violates(self) -> Bools:
        """Return where the recommended play breaks a cost, (B,)."""
        return self.violation > 0.0

    @property
    def broken(self) -> Bools | None:
        """Return which of the runs that stopped broke the promise, by costs or regret; None without one."""
        if self.promise is None:
            return None
        return ((self.regret > self.promise) | self.violates)[self.after != NEVER]


ARRAYS = ("after", "regret", "violation", "paid", "hindsight")  # fields with a number a trial


def valued(
    rounds: Sequence[tuple[Floats, Floats, Floats]], stops: Stops, worst: Floats
) -> dict[str, Stopped]:
    """Return each rule's stops with their values; a recommendation of nothing has the worst regret.

    Args:
        rounds: true regret, violation and cost of all rounds in blocks, (B, n) each.
        worst: largest possible regret, (B,).
    """
    regret, violation, cost = (np.concatenate(each, axis=1) for each in zip(*rounds, strict=True))
    paid, rows = cost.cumsum(axis=1), np.arange(len(regret))
    best = np.reshape(stops.best, (-1, len(rows))).T  # (B, T), fewer where a budget ended the trial
    last, there = best.shape[1], np.maximum(best, 0)
    path = np.where(best == NEVER, worst[:, None], np.take_along_axis(regret, there, axis=1))
    found = {}
    for label, price in stops.prices.items():
        after, play = (np.reshape(each[label], len(rows)) for each in (stops.after, stops.play))
        chosen = np.where(after == NEVER, best[:, -1], play)
        known, there = chosen != NEVER, np.maximum(chosen, 0)
        least = np.full(len(rows), np.nan) if price is None else path + price * paid[:, :last]
        found[label] = Stopped(
            after,
            regret=np.where(known, regret[rows, there], worst),
            violation=np.where(known, violation[rows, there], 0.0),
            paid=paid[rows, np.where(after == NEVER, last, after) - 1],
            hindsight=least if price is None else least.min(axis=1),
            price=price,
            promise=stops.promises[label],
        )
    return found


def joined_stopped(blocks: Sequence[Mapping[str, Stopped]]) -> dict[str, Stopped]:
    """Return the rules of all trials from blocks of them, in their order."""
    return {
        label: first._replace(
            **{name: np.concatenate([getattr(block[label], name) for block in blocks]) for name in ARRAYS}
        )
        for label, first in blocks[0].items()
    }


def as_data(stopped: Mapping[str, Stopped] | None) -> Any:
    """Return the rules as data of JSON; None where there are none."""
    rules = {label: rule._asdict() for label, rule in (stopped or {}).items()}
    return {x: y | {name: y[name].tolist() for name in ARRAYS} for x, y in rules.items()} or None


def from_data(data: Any) -> dict[str, Stopped] | None:
    """Invert `as_data`."""
    rules = (data or {}).items()
    return {x: Stopped(**{**y, **{name: np.array(y[name]) for name in ARRAYS}}) for x, y in rules} or None
