"""What plays cost, and how much may be spent: the episode ends with the budget."""

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
    """The law of k(x) > 0, what a play of x takes from the budget; the same throughout a trial.

    Change-points and drift concern rewards and constraints. In a context a play costs what its (context,
    arm) pair costs.

    Args:
        budget: B, what may be spent in a trial, at least the most that a play can cost.
        known: whether the costs are published before the first round.
        noise_std: of what is seen of a cost, N(0, noise_std^2) on k, or on ln k where costs are
            `logarithmic`; independent of the rewards' noise. The budget pays the true cost.
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
            require(enough, "budget", f"at least {self.most:g}, what a play can cost", self.budget)

    @property
    @abc.abstractmethod
    def least(self) -> float:
        """What no play costs less than."""

    @property
    @abc.abstractmethod
    def most(self) -> float:
        """What no play costs more than."""

    @property
    @abc.abstractmethod
    def prior(self) -> tuple[float, float]:
        """Mean and deviation of k over draws and points, or of ln k where it is `logarithmic`."""

    @abc.abstractmethod
    def draw(self, gram: Gram, rng: np.random.Generator) -> Drawn:
        """Draw k; `gram` is the model's on the points."""

    def seen(self, cost: Floats | float, normal: Floats | float) -> Floats | float:
        """What is seen of true costs, given standard normals, of one shape."""
        noise = self.noise_std * normal
        return cost * np.exp(noise) if self.logarithmic else cost + noise
