"""Q_t: what a unit of violation, in prior deviations, costs as the rounds go by."""

from __future__ import annotations

import abc
from dataclasses import dataclass

import numpy as np

from bandit_envs.basics.arguments import require_not_negative
from bandit_envs.basics.types import Floats, Ints

RHO = 10.0  # the code of EPBO takes 1, which is too little where a unit of cost is worth more


class Schedule(abc.ABC):
    """One Q a trial and constraint."""

    @abc.abstractmethod
    def start(self, num_trials: int, num_constraints: int) -> Floats:
        """Q_1, (B, C)."""

    def moved(self, charge: Floats, violation: Floats, t: Ints) -> Floats:
        """Q_{t+1} from Q_t, (B, C) each; by default they are the same.

        Args:
            charge: Q_t.
            violation: [c]^+ of the observed costs that came in the round, summed.
            t: rounds since the trial began or started over, (B, 1).
        """
        return charge


@dataclass(frozen=True)
class Infinite(Schedule):
    """Q_t = infinity: nothing is played that cannot be feasible (CONFIG, Xu et al. 2023)."""

    def start(self, num_trials: int, num_constraints: int) -> Floats:
        """Infinity."""
        return np.full((num_trials, num_constraints), np.inf)


@dataclass(frozen=True)
class Constant(Schedule):
    """Q_t = rho (EPBO, Lu & Paulson 2022); its theory, from memory, needs rho above all optimal multipliers.

    Args:
        rho: in prior deviations of the reward for one of a cost.
    """

    rho: float = RHO

    def __post_init__(self) -> None:
        require_not_negative("rho", self.rho, "it is what a unit of violation costs")

    def start(self, num_trials: int, num_constraints: int) -> Floats:
        """Rho."""
        return np.full((num_trials, num_constraints), float(self.rho))


@dataclass(frozen=True)
class Growing(Schedule):
    """Q_1 = 1, Q_{t+1} = max(Q_t + [c_t]^+, sqrt t) (RPOL, Guo et al. 2023).

    The paper has one constraint and no delay: one Q for each constraint, and costs that arrive together are
    summed, are our readings. Noise alone makes Q grow linearly on the border, and so RPOL becomes CONFIG.
    """

    def start(self, num_trials: int, num_constraints: int) -> Floats:
        """Ones."""
        return np.ones((num_trials, num_constraints))

    def moved(self, charge: Floats, violation: Floats, t: Ints) -> Floats:
        """max(Q_t + [c_t]^+, sqrt t)."""
        return np.maximum(charge + violation, np.sqrt(t))
