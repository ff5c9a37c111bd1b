"""The multipliers of the costs, which move once an epoch."""

from __future__ import annotations

import numpy as np

from bandit_envs.basics.types import Floats, Ints

from .penalties import Penalty, Weights


class Multipliers:
    """kappa of B trials and C constraints, with the costs that came since they last moved.

    Args:
        penalty: how they start, move and weigh.
        num_trials, num_constraints: B, C.
        epoch: rounds S between two moves.
    """

    def __init__(self, penalty: Penalty, num_trials: int, num_constraints: int, epoch: int):
        self.penalty, self.epoch = penalty, epoch
        self.value: Floats = penalty.start(num_trials, num_constraints)  # (B, C)
        self.weights: Weights = penalty.weights(self.value)
        self._sum, self._count = np.zeros((num_trials, num_constraints)), np.zeros(num_trials)

    def receive(self, trial: Ints, cost: Floats) -> None:
        """Keep observed costs, (n, C), until the epoch ends."""
        np.add.at(self._sum, trial, cost)
        np.add.at(self._count, trial, 1.0)

    def end_round(self, rounds: int) -> bool:
        """After round number `rounds`: whether an epoch has ended, and if so, move.

        The mean is over the costs that came since the last move; where none came, nothing moves.
        """
        if rounds % self.epoch:
            return False
        moved = self.penalty.moved(self.value, self._sum / np.maximum(self._count, 1.0)[:, None])
        self.value = np.where(self._count[:, None] > 0, moved, self.value)
        self.weights = self.penalty.weights(self.value)
        self._sum[:], self._count[:] = 0.0, 0.0
        return True

    def forget(self, trial: Ints) -> None:
        """Begin anew in some trials, (n,)."""
        self.value = self.value.copy()
        self.value[trial] = self.penalty.start(len(trial), self.value.shape[1])
        self.weights = self.penalty.weights(self.value)
        self._sum[trial], self._count[trial] = 0.0, 0.0
