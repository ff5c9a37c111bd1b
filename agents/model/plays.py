"""Which point was played in which round: feedback names rounds, beliefs want points, each once."""

from __future__ import annotations

import numpy as np

from bandit_envs.basics.types import Bools, Ints

COLLECTED, UNPLAYED = -1, -2


class Plays:
    """The points that B trials played and whose feedback is pending; grows beyond the expected horizon.

    Args:
        num_trials: B.
        horizon: expected number of rounds.
    """

    def __init__(self, num_trials: int, horizon: int):
        self.rounds = 0
        self._points = np.full((horizon, num_trials), UNPLAYED)

    def record_round(self, point: Ints, trial: Ints, rounds: Ints) -> Ints:
        """A round is over: every trial played a point, (B,), and feedback of rounds so far came, (n,) each.

        Feedback comes once. Where it is wrong a ValueError says so, and nothing has changed.

        Returns:
            The points that the feedback is about, (n,).
        """
        if self.rounds == len(self._points):
            self._points = np.concatenate([self._points, np.full_like(self._points, UNPLAYED)])
        if len(point) == 1 and rounds.tolist() == [self.rounds]:  # one trial without delays: every round
            self._points[self.rounds] = COLLECTED
            self.rounds += 1
            return point.copy()
        self._points[self.rounds] = point  # written anew if this round turns out to be wrong
        played = self._collect(trial, rounds)
        self.rounds += 1
        return played

    def drop(self, trial: Ints, rounds: Ints) -> Ints:
        """Pending plays whose feedback will never come, (n,) each: their points, (n,)."""
        return self._collect(trial, rounds)

    def pending(self, since: Ints) -> tuple[Ints, Ints, Ints]:
        """Plays since a round of each trial, (B,), whose feedback is to come: trials, points and rounds.

        (n,) each; trials ascend, and rounds in a trial.
        """
        points = self._points[: self.rounds].T  # (B, T)
        trial, rounds = ((points >= 0) & (np.arange(self.rounds) >= since[:, None])).nonzero()
        return trial, points[trial, rounds], rounds

    def pending_of(self, trial: Ints, rounds: Ints) -> Bools:
        """Which of some plays, (n,) each, are waited for."""
        return self._points[rounds, trial] >= 0

    def _collect(self, trial: Ints, rounds: Ints) -> Ints:
        if len(rounds) == 1:
            return np.array([self._collect_one(trial.item(), rounds.item())])
        try:
            point = self._points[rounds, trial]
        except IndexError:
            raise ValueError(self._unknown(rounds)) from None
        # Lists: the few entries of a round are compared faster in Python than by two numpy reductions.
        if min(point.tolist(), default=0) < 0 or min(rounds.tolist(), default=0) < 0:
            raise ValueError(self._again(rounds) if (point == COLLECTED).any() else self._unknown(rounds))
        self._points[rounds, trial] = COLLECTED
        return point

    def _collect_one(self, trial: int, round_: int) -> int:
        """The same of one play: numbers index four times as fast as arrays of one entry."""
        try:
            point = self._points.item(round_, trial)
        except IndexError:
            raise ValueError(self._unknown(round_)) from None
        if point < 0 or round_ < 0:
            raise ValueError(self._again(round_) if point == COLLECTED else self._unknown(round_))
        self._points[round_, trial] = COLLECTED
        return point

    def _again(self, rounds: int | Ints) -> str:
        return f"feedback comes once, got round(s) {rounds} again"

    def _unknown(self, rounds: int | Ints) -> str:
        return f"feedback_step must name rounds in 0..{self.rounds}, got {rounds}"
