"""Which plays of an agent still count: those since each trial last began, their values come or awaited."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints

from ..model.plays import Plays
from .diary import PENDING, Diary, Entries

NOTHING = np.empty(0, dtype=np.int64)


class Past:
    """The plays of B trials; what came of them is kept only where it may have to be learnt again.

    Args:
        num_trials: B.
        horizon: expected number of rounds.
        diary: what came of every play, None where nobody learns it again.
    """

    def __init__(self, num_trials: int, horizon: int, diary: Diary | None = None):
        self.plays, self.diary = Plays(num_trials, horizon), diary
        self.since: Ints | None = None  # first round of each trial whose feedback is not stale; None is 0
        self.recalled = [NOTHING] * num_trials  # older rounds of each trial whose values count again
        self._always = np.zeros(num_trials, dtype=np.int64)

    @property
    def keeps(self) -> bool:
        """Whether what came of the plays is kept."""
        return self.diary is not None

    def counts(self, trial: Ints, rounds: Ints) -> Bools | None:
        """Which plays, (n,) each, are not stale; None is all."""
        return None if self.since is None else rounds >= self.since[trial]

    def begin(self, trial: Ints, first: Ints, recalled: Sequence[Ints] | None = None) -> None:
        """What some trials, (n,), played before a round of each, (n,), is stale from now on.

        But for some older rounds of each, whose values have come.
        """
        older = [NOTHING] * len(trial) if recalled is None else recalled
        for i, rounds in zip(trial.tolist(), older, strict=True):
            self.recalled[i] = rounds
        since = self._begun.copy()
        since[trial] = first
        self.since = since

    def record(
        self, point: Ints, trial: Ints, rounds: Ints, reward: Floats, cost: Floats, weight: Floats | None
    ) -> None:
        """Keep what came in a round, see `Diary`, if it is kept."""
        if self.diary is not None:
            self.diary.record_round(point, trial, rounds, reward, cost, weight)

    def pending(self) -> tuple[Ints, Ints, Ints]:
        """Plays that count and are waited for: trials, points and rounds, (n,) each."""
        return self.plays.pending(self._begun)

    def kept(self, trial: Ints) -> Entries:
        """Plays of some trials, (n,), that count, of which a value came or is waited for."""
        assert self.diary is not None
        plays = self.diary.since(trial, self._begun[trial], [self.recalled[i] for i in trial.tolist()])
        pending = self.plays.pending_of(plays.trial, plays.round)
        return plays.where(pending | (plays.arrived > PENDING))

    @property
    def _begun(self) -> Ints:
        return self._always if self.since is None else self.since
