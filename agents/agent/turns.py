"""Sums over the plays of each of several candidate models: predictions, bands and feedback."""

from __future__ import annotations

import numpy as np

from bandit_envs.basics.types import Floats, Ints

NOBODY = -1  # for random first plays and actions that the agent did not choose


class Turns:
    """Sum over the plays that each of K candidates chose, in B trials; others are left out.

    Args:
        num_trials: B.
        num_candidates: K.
        horizon: expected number of rounds; more are allowed.
    """

    def __init__(self, num_trials: int, num_candidates: int, horizon: int):
        shape = (num_trials, num_candidates)
        self.rounds = 0
        self.chosen = np.zeros(shape)  # plays, without dropped ones
        self.arrived = np.zeros(shape)  # plays that were delivered, and over these the sums of
        self.value = np.zeros(shape)  # the values,
        self.promised = np.zeros(shape)  # w sigma before each play,
        self.surprise = np.zeros(shape)  # and the value minus the mean before the play
        self._who = np.full((horizon, num_trials), NOBODY)
        self._mean, self._band = np.zeros((horizon, num_trials)), np.zeros((horizon, num_trials))

    def play(self, who: Ints, mean: Floats, band: Floats) -> None:
        """Record a round: each trial's candidate, its mean and w sigma at the action, (B,) each."""
        if self.rounds == len(self._who):
            for name in ("_who", "_mean", "_band"):
                kept = getattr(self, name)
                setattr(self, name, np.concatenate([kept, np.zeros_like(kept)]))
        t = self.rounds
        self._who[t], self._mean[t], self._band[t] = who, mean, band
        (trial,) = (who != NOBODY).nonzero()
        self.chosen[trial, who[trial]] += 1.0
        self.rounds += 1

    def receive(self, trial: Ints, rounds: Ints, value: Floats) -> None:
        """Add delivered values of plays to the sums, (n,) each."""
        mine = self._who[rounds, trial] != NOBODY
        trial, rounds, value = trial[mine], rounds[mine], value[mine]
        place = trial, self._who[rounds, trial]
        np.add.at(self.arrived, place, 1.0)
        np.add.at(self.value, place, value)
        np.add.at(self.promised, place, self._band[rounds, trial])
        np.add.at(self.surprise, place, value - self._mean[rounds, trial])

    def drop(self, trial: Ints, rounds: Ints) -> None:
        """Remove plays that will never be delivered, (n,) each, from their candidates' counts."""
        who = self._who[rounds, trial]
        np.add.at(self.chosen, (trial[who != NOBODY], who[who != NOBODY]), -1.0)
        self._who[rounds, trial] = NOBODY
