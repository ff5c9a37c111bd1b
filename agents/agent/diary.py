"""Every play and what came of it, for agents that start over and learn some of it again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints

from ..model.by_round import ByRound

PENDING = -1  # in the place of the round in which a value came


class Entries(NamedTuple):
    """Plays, (n,) each; trials ascend, and rounds in a trial."""

    trial: Ints
    point: Ints
    round: Ints
    arrived: Ints  # the round in which the value came, or `PENDING`
    reward: Floats
    cost: Floats  # (n, C)
    weight: Floats  # what the play counts as, NaN where it is not told

    def where(self, kept: Bools) -> Entries:
        """Some of the rows."""
        return Entries._make(each[kept] for each in self)


class Diary:
    """The plays of B trials; 28 + 8 C bytes each.

    Args:
        num_trials, num_costs: B, C.
    """

    def __init__(self, num_trials: int, num_costs: int):
        fields = [("point", "i4"), ("arrived", "i4"), ("reward", "f8"), ("cost", "f8", (num_costs,))]
        self._rounds = ByRound(num_trials, np.dtype([*fields, ("weight", "f8")]))
        self._blank = np.zeros(num_trials, self._rounds.rows.dtype)
        self._blank["arrived"], self._blank["weight"] = PENDING, np.nan

    def record_round(
        self, point: Ints, trial: Ints, rounds: Ints, reward: Floats, cost: Floats, weight: Floats | None
    ) -> None:
        """Every trial played a point, (B,), and values of plays came, (n,) each."""
        self._blank["point"] = point
        self._rounds.append(self._blank)
        rows = self._rounds.rows
        rows["arrived"][rounds, trial] = len(self._rounds) - 1
        rows["reward"][rounds, trial], rows["cost"][rounds, trial] = reward, cost
        if weight is not None:
            rows["weight"][rounds, trial] = weight

    def since(self, trial: Ints, first: Ints, older: Sequence[Ints]) -> Entries:
        """The plays of some trials, (n,) ascending, from a round of each on, (n,), and of older rounds."""
        rows = self._rounds.rows[:, trial].T
        counts = np.arange(rows.shape[1]) >= first[:, None]
        for i, recalled in enumerate(older):
            counts[i, recalled] = True
        each, rounds = counts.nonzero()
        known = rows[each, rounds]
        numbers = (known[name].astype(np.int64) for name in ("point", "arrived"))
        point, arrived = numbers
        return Entries(trial[each], point, rounds, arrived, known["reward"], known["cost"], known["weight"])
