"""The state of one trial's posterior: the plays of each point and the sums of their values."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bandit_envs.basics.types import Floats, Ints


class SufficientStatistics(NamedTuple):
    """Plays and value sums of the distinct points played in one trial."""

    point: Ints  # (u,) ascending
    plays: Floats  # (u,)
    total: Floats  # (u,) sums of the values

    @classmethod
    def none(cls) -> SufficientStatistics:
        """Return the statistics of no plays."""
        return cls(np.empty(0, dtype=np.int64), np.empty(0), np.empty(0))

    @classmethod
    def of(cls, plays: Floats, total: Floats) -> SufficientStatistics:
        """Return the statistics of counts and sums of all points, (N,) each."""
        (point,) = plays.nonzero()
        return cls(point, plays[point], total[point])

    @classmethod
    def merge(cls, point: Ints, plays: Floats, total: Floats) -> SufficientStatistics:
        """Return the statistics of entries in which points may repeat, (k,) each."""
        distinct, place = np.unique(point, return_inverse=True)
        all_plays, all_total = np.zeros(len(distinct)), np.zeros(len(distinct))
        np.add.at(all_plays, place, plays)
        np.add.at(all_total, place, total)
        return cls(distinct, all_plays, all_total)
