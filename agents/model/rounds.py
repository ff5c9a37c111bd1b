"""Delays in rounds or in units of time, tables of one row a round, and rows of a trial's record."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints
from bandit_envs.laws.delays import Delay
from bandit_envs.problem.setting import Setting

PENDING = -1  # in the place of the round in which feedback was delivered
FIRST_CAPACITY = 64  # rounds; doubled whenever they are full
ROUNDING = 1e-9  # relative, of a window: 0.4 - 0.1 is more than 0.3
DRAWS = 100_000  # delays that estimate the probabilities of a law
LATE = 0.05  # share of the feedback that is delivered after the default window


class ByRound:
    """Growing array of B numbers a round."""

    def __init__(self, num_trials: int, dtype: Any = np.int64):
        self._rows, self._used = np.empty((FIRST_CAPACITY, num_trials), dtype), 0

    def __len__(self) -> int:
        return self._used

    @property
    def rows(self) -> np.ndarray:
        """All rows, (T, B); they may be written to."""
        return self._rows[: self._used]

    def append(self, row: np.ndarray) -> None:
        """Append the row of a round, (B,)."""
        if self._used == len(self._rows):
            self._rows = np.concatenate([self._rows, np.empty_like(self._rows)])
        self._rows[self._used] = row
        self._used += 1


class Delivery(NamedTuple):
    """Delivered plays, n; trials ascend and may repeat. Beliefs and incumbents take values as rewards."""

    trial: Ints
    point: Ints
    round: Ints  # in which it was played
    delay: Ints | Floats  # in rounds, or in units of time
    reward: Floats
    cost: Floats  # (n, C)
    weight: Floats | None = None  # how many plays of the model's noise each counts as; None where unpublished

    def where(self, kept: Bools) -> Delivery:
        """Return some of the plays."""
        trial, point, rounds, delay, reward, cost, weight = self
        own = None if weight is None else weight[kept]
        return Delivery(trial[kept], point[kept], rounds[kept], delay[kept], reward[kept], cost[kept], own)

    def with_values(self, value: Floats) -> Delivery:
        """Return the plays with other values in place of the rewards, (n,)."""
        return self._replace(reward=value)

    @classmethod
    def of_values(
        cls,
        trial: Ints,
        point: Ints,
        value: Floats,
        weight: Floats | None = None,
        delay: Ints | Floats | None = None,
    ) -> Delivery:
        """Return values without costs, (n,) each, by default delivered in the round of their play."""
        at_once = np.zeros_like(point)
        delay = at_once if delay is None else delay
        return cls(trial, point, at_once, delay, value, np.empty((len(point), 0)), weight)


class Rows(NamedTuple):
    """Plays, (n,) each; trials ascend, and rounds within a trial."""

    trial: Ints
    point: Ints
    round: Ints
    arrived: Ints  # the round in which feedback was delivered, or `PENDING`
    reward: Floats
    cost: Floats  # (n, C)
    weight: Floats  # how many plays of the model's noise it counts as, NaN where that is not published

    def where(self, kept: Bools | slice) -> Rows:
        """Return some of the rows."""
        return Rows._make(each[kept] for each in self)

    @property
    def delivered(self) -> Rows:
        """The rows whose feedback was delivered."""
        return self.where(self.arrived > PENDING)

    def delivery(self, clock: Clock) -> Delivery:
        """Return what was delivered of the rows."""
        trial, point, rounds, arrived, reward, cost, weight = self.delivered
        withheld = np.isnan(weight)
        own = None if withheld.all() else np.where(withheld, 1.0, weight)
        return Delivery(trial, point, rounds, clock.delay(rounds, arrived), reward, cost, own)

    @property
    def undelivered(self) -> Rows:
        """The rows as if no feedback had been delivered yet."""
        return self._replace(arrived=np.full_like(self.arrived, PENDING))


def in_time(delay: Ints | Floats, window: float) -> Bools:
    """Return the mask of delays within a window, both ends included up to rounding, (n,)."""
    return np.asarray(delay <= window * (1.0 + ROUNDING))


def default_window(setting: Setting) -> float:
    """Return the window of pending feedback: the 95 % quantile of the published law, or `max_delay`.

    It is in rounds, or in units of time where the setting publishes query times, and at most `max_delay`.
    """
    clock = Clock(setting.query_times)
    longest = clock.span(setting.max_delay)
    return longest if setting.delay is None else min(clock.seen(setting.delay.quantile(LATE)), longest)


def shares_of_rounds(law: Delay, longest: int) -> Floats:
    """Return the shares of feedback that take k = 0, 1, ..., `longest` rounds, (K,), by formula or draws."""
    delivered = law.delivered_by(np.arange(longest + 1, dtype=np.float64))
    if delivered is not None:
        return np.trim_zeros((1.0 - law.lost) * np.diff(delivered, prepend=0.0), "b")
    rounds = law.in_rounds(law.draw(DRAWS, np.random.default_rng(0)))
    return np.bincount(rounds[rounds <= longest].astype(np.int64)) / DRAWS


@dataclass(frozen=True, eq=False)
class Clock:
    """Measures delays in rounds, or in the units of the published query times (Verma 2022, Appendix A.4)."""

    times: Floats | None = None  # start of each round, (T,); None measures in rounds

    def delay(self, played: Ints, now: int | Ints) -> Ints | Floats:
        """Return the delays of feedback delivered after round `now`, (n,); `now` may be (n,) too.

        In units of time it runs from the play to the first use of its feedback, at round now + 1.
        """
        if self.times is not None:
            return self._start(now + 1) - self.times[played]
        if len(played) == 1 and isinstance(now, int):  # half the time that arrays of one entry take
            return np.array([now - played.item()])
        return now - played

    def span(self, rounds: int) -> float:
        """Return the longest time that feedback with a delay of some rounds takes."""
        if self.times is None:
            return rounds
        seen = np.minimum(np.arange(len(self.times)) + rounds + 1, len(self.times))
        return float((self._start(seen) - self.times).max())

    def seen(self, wait: float) -> float:
        """Return the longest time until feedback delivered after `wait` is used, at the next round."""
        if self.times is None:
            return wait
        first = np.searchsorted(self.times, self.times + wait * (1.0 - ROUNDING))
        return float((self._start(first) - self.times).max())

    def age(self, delay: Ints | Floats, now: int) -> Ints:
        """Return how many rounds before round `now` the plays were that had these delays, (n,)."""
        if self.times is None:
            return np.asarray(delay, dtype=np.int64)
        start = self._start(now + 1) - delay  # of the play's round, up to rounding
        return now - np.searchsorted((self.times[1:] + self.times[:-1]) / 2.0, start)

    def recent(self, now: int, window: float) -> int:
        """Return how many of the plays before round `now` are in the window, s = t - m, ..., t - 1."""
        if self.times is None:
            return int(min(window * (1.0 + ROUNDING), now))
        elapsed = self._start(now) - self.times[:now]
        return int(np.count_nonzero(elapsed < window * (1.0 - ROUNDING)))

    def _start(self, rounds: int | Ints) -> Floats:
        """Return the starts of rounds, () or (n,); feedback of the last round is used one round later."""
        return self._starts[np.minimum(rounds, len(self._starts) - 1)]

    @cached_property
    def _starts(self) -> Floats:
        """Starts of all rounds and of one more, after another interval of the last length, (T + 1,)."""
        assert self.times is not None
        return np.append(self.times, self.times[-1] + np.diff(self.times[-2:]).sum())
