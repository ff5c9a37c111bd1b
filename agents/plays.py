"""Which point was played in which round: feedback names rounds, beliefs want points, each once."""

from __future__ import annotations

import numpy as np

from bandit_envs.types import Ints


class Plays:
    """The points that B trials played so far; grows beyond the expected horizon.

    Args:
        num_trials: B.
        horizon: expected number of rounds.
    """

    def __init__(self, num_trials: int, horizon: int):
        self.rounds = 0
        self._points = np.empty((horizon, num_trials), dtype=np.int64)
        self._collected = np.zeros((horizon, num_trials), dtype=bool)

    def append(self, point: Ints) -> None:
        """Every trial has just played a point, (B,)."""
        if self.rounds == len(self._points):
            self._points = np.concatenate([self._points, np.empty_like(self._points)])
            self._collected = np.concatenate([self._collected, np.zeros_like(self._collected)])
        self._points[self.rounds] = point
        self.rounds += 1

    def collect(self, trial: Ints, rounds: Ints) -> Ints:
        """The points of earlier rounds whose feedback has come, (n,) each; it comes once."""
        if len(rounds) and not (rounds.min() >= 0 and rounds.max() < self.rounds):
            raise ValueError(f"feedback_step must name rounds in 0..{self.rounds - 1}, got {rounds}")
        if self._collected[rounds, trial].any():
            raise ValueError(f"feedback comes once, got it again for round(s) {rounds} of trial(s) {trial}")
        self._collected[rounds, trial] = True
        return self._points[rounds, trial]
