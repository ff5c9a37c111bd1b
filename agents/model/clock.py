"""How long feedback took and which plays are recent: in rounds, or in units of time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints
from bandit_envs.problem.setting import Setting

ROUNDING = 1e-9  # of a window: 0.4 - 0.1 is more than 0.3
LATE = 0.05  # share of the feedback that comes after the default window


def in_time(delay: Ints | Floats, window: float) -> Bools:
    """Which feedback came within a window, both ends included but for rounding, (n,)."""
    return np.asarray(delay <= window * (1.0 + ROUNDING))


def default_window(setting: Setting) -> float:
    """How long pending feedback is waited for: the 95 % quantile of the published law, or `max_delay`.

    In rounds, or in units of time where the setting publishes query times; at most what feedback can take.
    """
    clock = Clock.of(setting)
    longest = clock.span(setting.max_delay)
    return longest if setting.delay is None else min(clock.seen(setting.delay.quantile(LATE)), longest)


@dataclass(frozen=True, eq=False)
class Clock:
    """Counts in rounds, or in the units of the published query times (Verma et al. 2022, Appendix A.4).

    Args:
        times: start of each round, (T,); None counts rounds.
    """

    times: Floats | None = None

    @classmethod
    def of(cls, setting: Setting) -> Clock:
        """The clock of a published setting."""
        return cls(setting.query_times)

    def delay(self, played: Ints, now: int | Ints) -> Ints | Floats:
        """How long feedback took that came after round `now`, (n,); `now` may be (n,) too.

        In time it is known only up to a round; it counts from the play to the first use, at round now + 1.
        """
        if self.times is not None:
            return self._start(now + 1) - self.times[played]
        if len(played) == 1 and isinstance(now, int):  # half the time that arrays of one entry take
            return np.array([now - played.item()])
        return now - played

    def span(self, rounds: int) -> float:
        """How long feedback of so many rounds' delay takes at most."""
        if self.times is None:
            return rounds
        seen = np.minimum(np.arange(len(self.times)) + rounds + 1, len(self.times))
        return float((self._start(seen) - self.times).max())

    def seen(self, wait: float) -> float:
        """How long feedback takes that is there after a wait: it is seen when the next round starts."""
        if self.times is None:
            return wait
        first = np.searchsorted(self.times, self.times + wait * (1.0 - ROUNDING))
        return float((self._start(first) - self.times).max())

    def age(self, delay: Ints | Floats, now: int) -> Ints:
        """How many rounds before round `now` the plays were that took so long, (n,): undoes `delay`."""
        if self.times is None:
            return np.asarray(delay, dtype=np.int64)
        start = self._start(now + 1) - delay  # of the round, but for rounding
        return now - np.searchsorted((self.times[1:] + self.times[:-1]) / 2.0, start)

    def recent(self, now: int, window: float) -> int:
        """How many of the plays before round `now` are in the window, s = t - m, ..., t - 1."""
        if self.times is None:
            return int(min(window * (1.0 + ROUNDING), now))
        elapsed = self._start(now) - self.times[:now]
        return int(np.count_nonzero(elapsed < window * (1.0 - ROUNDING)))

    def _start(self, rounds: int | Ints) -> Floats:
        """When rounds start, () or (n,); what arrives in the last one is seen when another would start."""
        return self._starts[np.minimum(rounds, len(self._starts) - 1)]

    @cached_property
    def _starts(self) -> Floats:
        """Of all rounds and of one more, as long after the last as that is after the one before, (T + 1,)."""
        assert self.times is not None
        return np.append(self.times, self.times[-1] + np.diff(self.times[-2:]).sum())
