"""The multipliers of the costs, which move once an epoch."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bandit_envs.basics.types import Floats, Ints

from .penalties import Penalty, Weights


class Multipliers:
    """kappa of B trials and C constraints, with the costs delivered since their last move.

    Args:
        penalty: defines how they start, move and weigh.
        num_trials, num_constraints: B, C.
        epoch: rounds S between two moves.
    """

    def __init__(self, penalty: Penalty, num_trials: int, num_constraints: int, epoch: int):
        self.penalty, self.epoch = penalty, epoch
        self.value: Floats = penalty.start(num_trials, num_constraints)  # (B, C)
        self.weights: Weights = penalty.weights(self.value)
        self._sum, self._count = np.zeros((num_trials, num_constraints)), np.zeros(num_trials)
        self._size = np.zeros((num_trials, num_constraints))  # root of the sum of all squared means

    def receive(self, trial: Ints, cost: Floats) -> None:
        """Store observed costs, (n, C), until the epoch ends."""
        np.add.at(self._sum, trial, cost)
        np.add.at(self._count, trial, 1.0)

    def end_round(self, rounds: int, spread: Callable[[], Floats]) -> bool:
        """Move the multipliers if round number `rounds` ends an epoch, and return True if it does.

        The mean is over the costs delivered since the last move; without any, the multipliers stay.

        Args:
            rounds: 1, 2, ....
            spread: returns the stds of the reward and of the costs, as far as they are known, (B, 1 + C).
        """
        if rounds % self.epoch:
            return False
        mean = self._sum / np.maximum(self._count, 1.0)[:, None]
        self._size = np.hypot(self._size, mean)
        moved = self.penalty.moved(self.value, mean, adaptive_step(spread(), self._size))
        self.value = np.where(self._count[:, None] > 0, moved, self.value)
        self.weights = self.penalty.weights(self.value)
        self._sum[:], self._count[:] = 0.0, 0.0
        return True

    def forget(self, trial: Ints) -> None:
        """Restart the multipliers of some trials, (n,)."""
        self.value = self.value.copy()
        self.value[trial] = self.penalty.start(len(trial), self.value.shape[1])
        self.weights = self.penalty.weights(self.value)
        self._sum[trial], self._count[trial], self._size[trial] = 0.0, 0.0, 0.0


def adaptive_step(spread: Floats, size: Floats) -> Floats:
    r"""Return (s_f / s_j) / sqrt(s_j^2 + sum_{i <= l} m_ij^2), a step of the dual per constraint, (B, C).

    m_ij is the mean cost of epoch i, s_f and s_j are the stds of the reward and of the cost. After l epochs
    of subgradients m a dual ascent is within D^2 / (2 a l) + a m^2 / 2 of its optimum, which is least at
    a = D / (m sqrt(l)), D the size of the multiplier: the paper's O(1 / sqrt(L)). A multiplier has the unit
    s_f / s_j, which is taken for D; the sum estimates m and l (Duchi et al. 2011), with s_j^2 for the noise
    of a small first mean. So the multiplier moves by at most D an epoch, and ever less, in any units.

    Args:
        spread: s_f and s_j, (B, 1 + C).
        size: the root of the sum of squares, (B, C).
    """
    cost = spread[:, 1:]
    return spread[:, :1] / cost / np.hypot(cost, size)
