"""Change rewards after they are drawn, within a budget C: sum over all rounds of |c_t| <= C.

An attack observes the play and its gap to the optimum, and adds c_t to the reward before it is observed;
regret is computed from the function itself. The intended c_t of each round are drawn in advance, so they
are the same for all agents; the remaining budget limits how much of c_t is added.
"""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from bandit_envs.basics.arguments import require
from bandit_envs.basics.options import Checked, fraction, not_negative
from bandit_envs.basics.types import Bools, Floats


@dataclass(frozen=True)
class Corruption(Checked):
    """Attack rewards within a budget.

    Args:
        budget: C, in units of the reward; published with the model.
        by: the change of one reward, until the budget is spent.
    """

    budget: Annotated[float, not_negative()] = 3.0
    by: Annotated[float, not_negative()] = 0.6

    def strikes(self, gap: Floats | float) -> Bools:
        """Return whether plays with these gaps to the optimum are attacked, a number or (n,); here all."""
        return np.ones(np.shape(gap), dtype=bool)

    def draw(self, horizon: int, rng: np.random.Generator) -> Floats:
        """Return the intended change of each round's reward, (T,), applied if the round is attacked."""
        return np.full(horizon, 0.0 - self.by)


@dataclass(frozen=True)
class Untouched(Corruption):
    """Leave rewards unchanged."""

    budget: float = 0.0
    by: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.budget == self.by == 0, "budget", "0 for the law 'none'", self.budget or self.by)


@dataclass(frozen=True)
class AgainstTheBest(Corruption):
    """Lower the rewards of plays whose gap to the optimum is at most `within`."""

    within: Annotated[float, not_negative()] = 0.3

    def strikes(self, gap: Floats | float) -> Bools:
        return np.asarray(gap <= self.within)


@dataclass(frozen=True)
class AtRandom(Corruption):
    """Raise or lower the rewards of random rounds, each with this probability, whatever is played."""

    probability: Annotated[float, fraction()] = 0.1

    def draw(self, horizon: int, rng: np.random.Generator) -> Floats:
        struck = rng.random(horizon) < self.probability
        return np.where(struck, self.by * rng.choice([-1.0, 1.0], horizon), 0.0)


@dataclass(frozen=True)
class AtTheStart(Corruption):
    """Lower the rewards of the first rounds, whatever is played, so that first estimates are too low."""


UNTOUCHED = Untouched()

LAWS: dict[str, type[Corruption]] = {
    "none": Untouched,
    "near-optimal": AgainstTheBest,
    "random": AtRandom,
    "start": AtTheStart,
}
