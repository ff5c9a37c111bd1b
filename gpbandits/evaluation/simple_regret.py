"""Simple regret is that of the best feasible, delivered play of the round's context and segment."""

from typing import Any

import numpy as np

from agents.model.rounds import Clock, in_time
from bandit_envs.basics.types import Bools, Floats, Ints
from bandit_envs.problem.setting import Setting


class BestPlay:
    """The best play has the least regret of the plays that count in B trials, see `Curves.simple_regret`."""

    def __init__(self) -> None:
        # Of each remembered play: trial, context, segment, and the round from which it counts, where rounds
        # of the next block count from 1, and 0 is before.
        self._where, self._regret = np.empty((4, 0), dtype=np.int64), np.empty(0)

    def follow(self, regret: Floats, delay: Ints, feasible: Bools, context: Ints, segment: Ints) -> Floats:
        """Return the curve of the next rounds, (B, n); infinite where no play counts.

        Args:
            regret, context, segment: of each round's play, (B, n).
            delay: delay of its feedback, -1 for never, (B, n).
            feasible: True if it violates no cost, (B, n).
        """
        trial, now = np.indices(regret.shape)
        asked = np.array([trial, context, segment, now + 1]).reshape(4, -1)
        counted = (feasible & (delay >= 0)).ravel()
        played = asked[:, counted]
        played[3] += delay.ravel()[counted]
        where = np.concatenate([self._where, played], axis=1)
        values = np.concatenate([self._regret, regret.ravel()[counted]])
        least, ends, missed = _least_so_far(asked, where, values)
        self._where = np.concatenate([asked[:, ends], where[:, missed]], axis=1)
        self._where[3] = np.maximum(self._where[3] - regret.shape[1], 0)
        self._regret = np.concatenate([least[ends], values[missed]])
        return least.reshape(regret.shape)

    def stop(self) -> None:
        """Drop pending plays, whose feedback will not be delivered."""
        known = self._where[3] == 0
        self._where, self._regret = self._where[:, known], self._regret[known]


def _least_so_far(asked: Ints, where: Ints, values: Floats) -> tuple[Floats, Ints, Bools]:
    """Return the least value known in each round, (n,), the last rounds of places, and unused values, (m,).

    Rounds, (4, n), and values, (m,), are of a trial, context, segment and time, (4, m). A place is one trial,
    context and segment. A value is unused if none of the rounds is of its place and not before its time.
    """
    shape = tuple(np.maximum(asked.max(axis=1), where.max(axis=1, initial=0)) + 1)
    key = np.asarray(np.ravel_multi_index(tuple(asked), shape))
    order = key.argsort()
    key = key[order]
    mine = np.asarray(np.ravel_multi_index(tuple(where), shape))
    first = np.searchsorted(key, mine)  # round of its place that knows each value
    place = key // shape[3]
    used = np.append(place, -1)[first] == mine // shape[3]
    least = np.full(len(key), np.inf)
    np.minimum.at(least, first[used], values[used])
    starts = np.flatnonzero(np.diff(place, prepend=-1))
    ends = np.append(starts[1:], len(key))
    longer = ends > starts + 1
    for start, end in zip(starts[longer].tolist(), ends[longer].tolist(), strict=True):
        np.minimum.accumulate(least[start:end], out=least[start:end])
    found = np.empty_like(least)
    found[order] = least
    return found, order[ends - 1], ~used


class Contexts:
    """Observed contexts are numbered in the order of their first rounds."""

    def __init__(self, setting: Setting):
        self._width = setting.pairs_width - setting.dim if setting.has_contexts else 0
        self._known: dict[bytes, int] = {}

    def number(self, observation: Any, num_trials: int) -> Ints:
        """Number the contexts of B trials, (B,); 0 where there are none."""
        if not self._width:
            return np.zeros(num_trials, dtype=np.int64)
        rows = np.array(observation).reshape(num_trials, -1)[:, : self._width]
        return np.array([self._known.setdefault(row.tobytes(), len(self._known)) for row in rows])


def learnable(delay: Ints, window: float | None, setting: Setting, start: int = 0) -> Ints:
    """Return the delays of plays in rounds from `start` on, (B, T), -1 where they exceed an agent's window.

    Such an agent learns only from plays *converted within the window* (Verma et al. 2022), in the unit of the
    setting; None uses all.
    """
    if window is None:
        return delay
    played = start + np.arange(delay.shape[1])
    taken = Clock.of(setting).delay(played, played + delay)
    return np.where(in_time(taken, window), delay, -1)
