"""Who changes rewards after they are drawn, with a budget C: sum over all rounds of |c_t| <= C.

An attack sees the play and its gap to the optimum, and adds c_t to the reward that will be seen; regret is
counted on the function itself. What it would do in each round is drawn beforehand, so all agents meet the
same attacker; what is left of the budget decides how much of it is done.
"""

from __future__ import annotations

import abc
from dataclasses import dataclass

import numpy as np

from bandit_envs.basics.arguments import is_number, require
from bandit_envs.basics.types import Bools, Floats


@dataclass(frozen=True)
class Corruption(abc.ABC):
    """An attack of a budget.

    Args:
        budget: C, in units of the reward; published with the model.
        by: how much a reward is changed, until the budget is spent.
    """

    budget: float = 3.0
    by: float = 0.6

    def __post_init__(self) -> None:
        require(is_number(self.budget) and self.budget >= 0, "budget", "0 or positive", self.budget)
        require(is_number(self.by) and self.by >= 0, "by", "0 or positive", self.by)

    def strikes(self, gap: Floats | float) -> Bools:
        """Which plays with these gaps to the optimum it changes, a number or (n,); here all."""
        return np.ones(np.shape(gap), dtype=bool)

    @abc.abstractmethod
    def draw(self, horizon: int, rng: np.random.Generator) -> Floats:
        """What it would add to each round's reward, (T,), if it strikes."""


@dataclass(frozen=True)
class Untouched(Corruption):
    """Rewards are what they are."""

    budget: float = 0.0
    by: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.budget == self.by == 0, "budget", "0 for the law 'none'", self.budget or self.by)

    def draw(self, horizon: int, rng: np.random.Generator) -> Floats:
        """Zeros, (T,)."""
        return np.zeros(horizon)


@dataclass(frozen=True)
class AgainstTheBest(Corruption):
    """Rewards of plays near the optimum are lowered.

    Args:
        within: gap to the optimum up to which a play is attacked.
    """

    within: float = 0.3

    def __post_init__(self) -> None:
        super().__post_init__()
        require(is_number(self.within) and self.within >= 0, "within", "0 or positive", self.within)

    def strikes(self, gap: Floats | float) -> Bools:
        """Those of near-optimal plays."""
        return np.asarray(gap <= self.within)

    def draw(self, horizon: int, rng: np.random.Generator) -> Floats:
        """Always the same, downwards, (T,)."""
        return np.full(horizon, -self.by)


@dataclass(frozen=True)
class AtRandom(Corruption):
    """Rewards of random rounds are raised or lowered, whatever is played.

    Args:
        probability: of a round to be attacked.
    """

    probability: float = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        valid = is_number(self.probability) and 0 <= self.probability <= 1
        require(valid, "probability", "a probability", self.probability)

    def draw(self, horizon: int, rng: np.random.Generator) -> Floats:
        """`by` up or down in some rounds, else 0, (T,)."""
        struck = rng.random(horizon) < self.probability
        return np.where(struck, self.by * rng.choice([-1.0, 1.0], horizon), 0.0)


@dataclass(frozen=True)
class AtTheStart(Corruption):
    """Rewards of the first rounds are lowered, whatever is played: first impressions are wrong."""

    def draw(self, horizon: int, rng: np.random.Generator) -> Floats:
        """Always the same, downwards, (T,); the budget ends it."""
        return np.full(horizon, -self.by)


UNTOUCHED = Untouched()

LAWS: dict[str, type[Corruption]] = {
    "none": Untouched,
    "near-optimal": AgainstTheBest,
    "random": AtRandom,
    "start": AtTheStart,
}
