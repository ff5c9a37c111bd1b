"""Define the interface of play costs, and the budget that ends an episode."""

from __future__ import annotations

import abc
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

import numpy as np

from bandit_envs.basics.arguments import is_number, require, require_switch
from bandit_envs.basics.types import Floats
from bandit_envs.kernels.gram import Gram
from bandit_envs.laws.drawn import Drawn


@dataclass(frozen=True)
class PlayCosts(abc.ABC):
    """Draw k(x) > 0, the amount that a play of x takes from the budget, constant throughout a trial.

    Change-points and drift affect rewards and constraints only. In a context a play costs k of its (context,
    arm) pair.

    Args:
        budget: B, the amount that may be spent in a trial, at least the largest possible cost of a play.
        known: whether the costs are published before the first round.
        noise_std: of observed costs, N(0, noise_std^2) on k, or on ln k where costs are `logarithmic`;
            independent of the rewards' noise. The budget pays the true cost.
    """

    budget: float
    _: KW_ONLY
    known: bool = False
    noise_std: float = 0.0

    logarithmic: ClassVar[bool] = False  # whether ln k, not k, is the Gaussian process
    is_free: ClassVar[bool] = False  # whether nothing is ever spent
    is_fixed: ClassVar[bool] = False  # whether every draw is the same function

    def __post_init__(self) -> None:
        require_switch("known", self.known)
        valid = is_number(self.noise_std) and self.noise_std >= 0
        require(valid, "noise_std", "0 or positive", self.noise_std)
        if not self.is_free:
            enough = is_number(self.budget) and self.budget >= self.most
            require(enough, "budget", f"at least {self.most:g}, the largest cost of a play", self.budget)

    @property
    @abc.abstractmethod
    def least(self) -> float:
        """Return a lower bound on the cost of a play."""

    @property
    @abc.abstractmethod
    def most(self) -> float:
        """Return an upper bound on the cost of a play."""

    @property
    @abc.abstractmethod
    def prior(self) -> tuple[float, float]:
        """Return mean and std of k over draws and points, or of ln k where it is `logarithmic`."""

    @abc.abstractmethod
    def draw(self, gram: Gram, rng: np.random.Generator) -> Drawn:
        """Draw k; `gram` is the model's on the points."""

    def seen(self, cost: Floats | float, normal: Floats | float) -> Floats | float:
        """Return the observed values of true costs, given standard normals of the same shape."""
        noise = self.noise_std * normal
        return cost * np.exp(noise) if self.logarithmic else cost + noise
