"""The book: the only record of a trial's plays and of what was observed of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bandit_envs.basics.types import Bools, Ints

from ..model.rounds import PENDING, ByRound, Delivery, Rows

COLLECTED, UNPLAYED = -1, -2  # in the place of the point of a pending play
NO_ROUNDS = np.empty(0, dtype=np.int64)


class Book:
    """The plays of B trials: which are pending, which still count, and their feedback where it is read again.

    It takes 8 bytes a play, and 28 + 8 C more where it keeps feedback, with `num_costs` = C not None.
    """

    def __init__(self, num_trials: int, horizon: int, num_costs: int | None = None):
        self.rounds = 0
        self.since: Ints | None = None  # first round of each trial whose feedback is not stale; None is 0
        self.recalled = [NO_ROUNDS] * num_trials  # older rounds of each trial that count again
        self.weighted = False  # whether a play's own noise was ever published
        self._pending = np.full((horizon, num_trials), UNPLAYED)  # points, (T, B)
        self._always = np.zeros(num_trials, dtype=np.int64)
        self.keeps = num_costs is not None
        self._kept = ByRound(num_trials, _columns(num_costs or 0))  # filled only if it keeps feedback
        self._blank = np.zeros(num_trials, _columns(num_costs or 0))
        self._blank["arrived"], self._blank["weight"] = PENDING, np.nan

    def record_round(self, point: Ints, trial: Ints, rounds: Ints) -> Ints:
        """Record all plays, (B,), and delivered feedback of some rounds, (n,) each; return its points, (n,).

        Feedback of a play is delivered once. Where it is wrong a ValueError says so, and nothing has changed.
        """
        if self.rounds == len(self._pending):
            self._pending = np.concatenate([self._pending, np.full_like(self._pending, UNPLAYED)])
        if len(point) == len(rounds) == 1 and rounds.item() == self.rounds:  # of one trial without delays
            self._pending[self.rounds, 0] = COLLECTED
            played = point
        else:
            self._pending[self.rounds] = point  # written anew if this round turns out to be wrong
            played = self.drop(trial, rounds)
        self.rounds += 1
        return played

    def record_feedback(self, point: Ints, delivery: Delivery) -> None:
        """Keep what the recorded round delivered; its plays are those of all trials, (B,)."""
        self._blank["point"] = point
        self._kept.append(self._blank)
        rows, where = self._kept.rows, (delivery.round, delivery.trial)
        rows["arrived"][where] = self.rounds - 1
        rows["reward"][where], rows["cost"][where] = delivery.reward, delivery.cost
        if delivery.weight is not None:
            rows["weight"][where], self.weighted = delivery.weight, True

    def drop(self, trial: Ints, rounds: Ints) -> Ints:
        """Record that pending plays are pending no more, (n,) each, and return their points, (n,)."""
        if len(rounds) == 1:
            return np.array([self._collect_one(trial.item(), rounds.item())])
        try:
            point = self._pending[rounds, trial]
        except IndexError:
            raise self._refused(rounds) from None
        # Lists: the few entries of a round are compared faster in Python than by two numpy reductions.
        if min(point.tolist(), default=0) < 0 or min(rounds.tolist(), default=0) < 0:
            raise self._refused(rounds, bool((point == COLLECTED).any()))
        self._pending[rounds, trial] = COLLECTED
        return point

    def counts(self, trial: Ints, rounds: Ints) -> Bools:
        """Return which plays, (n,) each, are not stale."""
        return rounds >= self._begun[trial]

    def begin(self, trial: Ints, first: Ints, recalled: Sequence[Ints]) -> None:
        """Let plays of some trials, (n,), count from a round of each on, (n,), and in recalled rounds."""
        for i, rounds in zip(trial.tolist(), recalled, strict=True):
            self.recalled[i] = rounds
        since = self._begun.copy()
        since[trial] = first
        self.since = since

    def pending(self) -> Rows:
        """Return the plays that count and are pending; books that keep no feedback know these too."""
        points = self._pending[: self.rounds].T  # (B, T)
        trial, rounds = ((points >= 0) & (np.arange(self.rounds) >= self._begun[:, None])).nonzero()
        unknown, cost = np.full(len(trial), np.nan), self._blank["cost"][trial]
        arrived = np.full(len(trial), PENDING)
        return Rows(trial, points[trial, rounds], rounds, arrived, unknown, cost, unknown)

    @property
    def num_pending(self) -> Ints:
        """Count the pending plays that are not stale, (B,)."""
        played = self._pending[: self.rounds]
        return ((played >= 0) & (np.arange(self.rounds)[:, None] >= self._begun)).sum(axis=0)

    def rows(self, trial: Ints) -> Rows:
        """Return the plays of some trials, (n,) ascending, that count and are pending or were observed."""
        rows, first = self._kept.rows[:, trial].T, self._begun[trial]
        counts = np.arange(rows.shape[1]) >= first[:, None]
        for i, of in enumerate(trial.tolist()):
            counts[i, self.recalled[of]] = True
        each, rounds = counts.nonzero()
        kept = rows[each, rounds]
        point, arrived = (kept[name].astype(np.int64) for name in ("point", "arrived"))
        plays = Rows(trial[each], point, rounds, arrived, kept["reward"], kept["cost"], kept["weight"])
        return plays.where((self._pending[rounds, plays.trial] >= 0) | (arrived > PENDING))

    @property
    def _begun(self) -> Ints:
        return self._always if self.since is None else self.since

    def _collect_one(self, trial: int, round_: int) -> int:
        """Do the same of one play: numbers index four times as fast as arrays of one entry."""
        try:
            point = self._pending.item(round_, trial)
        except IndexError:
            raise self._refused(round_) from None
        if point < 0 or round_ < 0:
            raise self._refused(round_, point == COLLECTED)
        self._pending[round_, trial] = COLLECTED
        return point

    def _refused(self, rounds: int | Ints, again: bool = False) -> ValueError:
        words = f"feedback comes once, got round(s) {rounds} again"
        return ValueError(
            words if again else f"feedback_step must name rounds in 0..{self.rounds}, got {rounds}"
        )


def plays_of(rounds: Any, trial: Any = None) -> tuple[Ints, Ints]:
    """Return trials and rounds of some plays, (n,) each, of one trial's rounds or of several trials'."""
    rounds = np.atleast_1d(np.asarray(rounds, dtype=np.int64))
    return np.zeros_like(rounds) if trial is None else np.asarray(trial, dtype=np.int64), rounds


def _columns(num_costs: int) -> np.dtype:
    fields = [("point", "i4"), ("arrived", "i4"), ("reward", "f8"), ("cost", "f8", (num_costs,))]
    return np.dtype([*fields, ("weight", "f8")])
