"""Schedules of Q_t, the penalty for a unit of violation in prior stds."""

from __future__ import annotations

import abc
from dataclasses import dataclass

import numpy as np

from bandit_envs.basics.arguments import require_not_negative
from bandit_envs.basics.types import Floats, Ints

RHO = 10.0  # the code of EPBO takes 1, too little where a unit of cost matters more


class Schedule(abc.ABC):
    """Schedule of one Q a trial and constraint."""

    @abc.abstractmethod
    def start(self, num_trials: int, num_constraints: int) -> Floats:
        """Return Q_1, (B, C)."""

    def moved(self, charge: Floats, violation: Floats, t: Ints) -> Floats:
        """Return Q_{t+1} from Q_t, (B, C) each; by default Q_t.

        Args:
            charge: Q_t.
            violation: [c]^+ of the costs delivered in the round, summed.
            t: rounds since the trial's start or restart, (B, 1).
        """
        return charge


@dataclass(frozen=True)
class Infinite(Schedule):
    """Q_t = infinity: no arm is played that cannot be feasible (CONFIG, Xu et al. 2023)."""

    def start(self, num_trials: int, num_constraints: int) -> Floats:
        """Return infinity."""
        return np.full((num_trials, num_constraints), np.inf)


@dataclass(frozen=True)
class Constant(Schedule):
    """Q_t = rho (EPBO, Lu & Paulson 2022); its theory [memory] needs rho above all optimal multipliers.

    Args:
        rho: in prior stds of the reward per prior std of a cost.
    """

    rho: float = RHO

    def __post_init__(self) -> None:
        require_not_negative("rho", self.rho, "it is the penalty for a unit of violation")

    def start(self, num_trials: int, num_constraints: int) -> Floats:
        """Return rho."""
        return np.full((num_trials, num_constraints), float(self.rho))


@dataclass(frozen=True)
class Growing(Schedule):
    """Q_1 = 1, Q_{t+1} = max(Q_t + [c_t]^+, sqrt t) (RPOL, Guo et al. 2023).

    The paper has one constraint and no delay: one Q for each constraint, and the sum of costs delivered in
    one round, are our readings. Noise alone makes Q grow linearly on the border, where RPOL becomes CONFIG.
    """

    def start(self, num_trials: int, num_constraints: int) -> Floats:
        """Return ones."""
        return np.ones((num_trials, num_constraints))

    def moved(self, charge: Floats, violation: Floats, t: Ints) -> Floats:
        """Return max(Q_t + [c_t]^+, sqrt t)."""
        return np.maximum(charge + violation, np.sqrt(t))
