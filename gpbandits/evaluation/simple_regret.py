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
        self._where, self._regret = np.empty((0, 4), dtype=np.int64), np.empty(0)

    def follow(self, regret: Floats, delay: Ints, feasible: Bools, context: Ints, segment: Ints) -> Floats:
        """Return the curve of the next rounds, (B, n); infinite where no play counts.

        Args:
            regret, context, segment: of each round's play, (B, n).
            delay: delay of its feedback, -1 for never, (B, n).
            feasible: True if it violates no cost, (B, n).
        """
        trial, now = np.indices(regret.shape)
        asked = np.stack([trial, context, segment, now + 1], axis=2)
        counted = feasible & (delay >= 0)
        played = asked[counted]
        played[:, 3] += delay[counted]
        where = np.concatenate([self._where, played, asked.reshape(-1, 4)])
        values = np.concatenate([self._regret, regret[counted], np.full(regret.size, np.inf)])
        best = _least_so_far(where, values)
        self._keep(where[: -regret.size], best[: -regret.size], values[: -regret.size], regret.shape[1])
        return best[-regret.size :].reshape(regret.shape)

    def _keep(self, where: Ints, best: Floats, values: Floats, size: int) -> None:
        """Keep the plays that are pending after so many rounds, and the best delivered one of each place."""
        late = where[:, 3] > size
        found, place = np.unique(where[~late, :3], axis=0, return_inverse=True)
        least = np.full(len(found), np.inf)
        np.minimum.at(least, place.ravel(), best[~late])
        before = np.pad(found, ((0, 0), (0, 1)))
        self._where = np.concatenate([before, where[late] - [0, 0, 0, size]])
        self._regret = np.concatenate([least, values[late]])

    def stop(self) -> None:
        """Drop pending plays, whose feedback will not be delivered."""
        known = self._where[:, 3] == 0
        self._where, self._regret = self._where[known], self._regret[known]


def _least_so_far(where: Ints, values: Floats) -> Floats:
    """Return the least value of each row's trial, context and segment up to its time, (m, 4) -> (m,)."""
    key = np.asarray(np.ravel_multi_index(tuple(where.T), tuple(where.max(axis=0) + 1)))
    order = np.argsort(key, kind="stable")
    distinct, rank = np.unique(values[order], return_inverse=True)
    place = key[order] // (where[:, 3].max() + 1)
    # Ranks of a later place lie below all ranks of earlier places, so that one pass handles all places.
    below = np.cumsum(np.diff(place, prepend=place[:1]) > 0) * len(distinct)
    least = np.empty_like(values)
    least[order] = distinct[np.minimum.accumulate(rank - below) + below]
    return least


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
