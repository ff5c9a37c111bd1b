"""Regret of the best play whose feedback has arrived, followed round by round."""

from __future__ import annotations

import numpy as np

from agents.model.clock import Clock, in_time
from bandit_envs.basics.types import Floats, Ints
from bandit_envs.problem.setting import Setting


class BestPlay:
    """The least regret of what has arrived in B trials, fed block by block.

    Args:
        num_trials: B.
    """

    def __init__(self, num_trials: int):
        self._best = np.full((num_trials, 1), np.inf)
        self._coming = np.empty((num_trials, 0))  # least regret of what arrives in each round from now on

    def follow(self, regret: Floats, delay: Ints) -> Floats:
        """The curve of the next rounds, (B, n); infinite before any arrival.

        Args:
            regret: of each round's play, (B, n).
            delay: of its feedback, -1 never, (B, n).
        """
        size = regret.shape[1]
        arrival = np.arange(size) + delay
        trial, played = (delay >= 0).nonzero()
        arrival = arrival[trial, played]
        longest = max(size, self._coming.shape[1], int(arrival.max(initial=0)) + 1)
        best = np.full((len(regret), longest), np.inf)
        best[:, : self._coming.shape[1]] = self._coming
        np.minimum.at(best, (trial, arrival), regret[trial, played])
        self._coming = best[:, size:]
        curve = np.minimum.accumulate(np.hstack([self._best, best[:, :size]]), axis=1)
        self._best = curve[:, -1:]
        return curve[:, 1:]

    def stop(self) -> None:
        """Nothing arrives any more."""
        self._coming = self._coming[:, :0]


def simple_regret(regret: Floats, delay: Ints, worst: Floats) -> Floats:
    """Regret of the best play whose feedback has arrived, (B, T); the worst possible before any arrival.

    Args:
        regret: of each round's play, (B, T).
        delay: of its feedback, -1 never, (B, T).
        worst: largest possible regret of each round, (B, T) or (B, 1).
    """
    best = BestPlay(len(regret)).follow(regret, delay)
    return np.where(np.isfinite(best), best, worst)


def learnable(delay: Ints, window: float | None, setting: Setting, start: int = 0) -> Ints:
    """Delays of the plays in rounds, (B, T), -1 also where feedback comes after an agent's window.

    A play that is *converted within the window* is all that such an agent can learn from (Verma et al. 2022).

    Args:
        delay: -1 never.
        window: None where whatever arrives is learnt.
        setting: says in which units a window is.
        start: the first of the rounds.
    """
    if window is None:
        return delay
    played = start + np.arange(delay.shape[1])
    taken = Clock.of(setting).delay(played, played + delay)
    return np.where(in_time(taken, window), delay, -1)
