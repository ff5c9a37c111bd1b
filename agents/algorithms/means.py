"""References without a model: epsilon-greedy and a local search, by the mean of the values of each arm."""

from __future__ import annotations

import numpy as np

from bandit_envs.basics.arguments import require_integer, require_probability
from bandit_envs.basics.types import Floats, Ints
from bandit_envs.problem.setting import Setting

from ..agent.assembly import TrialList, each_trial
from ..agent.reference_agent import TIE, ReferenceAgent, largest, tied_with_largest
from ..protocol import handles, states_propensities


class EpsilonGreedy(ReferenceAgent):
    """Agent that explores in a share of the rounds, and else plays the arm of the best mean in the context.

    The first plays of every context are random, as are those for which no value was delivered.
    """

    def __init__(self, setting: Setting, initial: int, explore: float):
        super().__init__(setting, initial)
        self.share = explore

    def choose(self, first: int, arms: Ints) -> int:
        known = arms[self.number[first + arms] > 0]
        place = slice(first, first + self.setting.decisions.num_arms)
        if not len(known) or self.plays[place].sum() < self.initial:
            return self.unplayed(first, arms)
        best = int(known[largest(self.preferences(first + known), self.rng)])
        return self.explored(first, arms, best) if self.rng.random() < self.share else best

    def propensity(self, observation: Floats, action: int) -> float | None:
        """Return the probability of the arm: of exploring it, and of its being the best, or one of them."""
        first = self._first_point(observation)
        size = self.setting.decisions.num_arms
        arms = np.arange(size) if self.offered is None else self.offered[0].nonzero()[0]
        known = arms[self.number[first + arms] > 0]
        fresh = arms[self.plays[first + arms] == 0]
        explorable = fresh if len(fresh) else arms
        explored = float(action in explorable) / len(explorable)
        if not len(known) or self.plays[first : first + size].sum() < self.initial:
            return explored
        best = known[tied_with_largest(self.preferences(first + known))]
        return self.share * explored + (1.0 - self.share) * float(action in best) / len(best)

    def explored(self, first: int, arms: Ints, best: int) -> int:
        """Return an arm to explore, by default one that was not played."""
        return self.unplayed(first, arms)


class LocalSearch(EpsilonGreedy):
    """Agent that explores near the best arm: one of the k nearest, at random."""

    def __init__(self, setting: Setting, initial: int, explore: float, nearest: int):
        super().__init__(setting, initial, explore)
        self.nearest = nearest

    def propensity(self, observation: Floats, action: int) -> None:
        """Return None: which of the nearest arms are tied is not worked out."""

    def explored(self, first: int, arms: Ints, best: int) -> int:
        others = arms[arms != best]
        features = self.setting.decisions.arms
        gap = ((features[others] - features[best]) ** 2).sum(axis=1)
        return int(others[one_of_least(gap, self.nearest, self.rng)]) if len(others) else best


def one_of_least(gap: Floats, number: int, rng: np.random.Generator) -> int:
    """Return the index of one of the `number` smallest, at random; which of ties are among them, too."""
    if len(gap) <= number:
        return int(rng.integers(len(gap)))
    last = np.partition(gap, number - 1)[number - 1]
    nearer = (gap < last * (1.0 - TIE)).nonzero()[0]
    tied = (np.abs(gap - last) <= last * TIE).nonzero()[0]
    rank = int(rng.integers(number))
    return int(nearer[rank] if rank < len(nearer) else rng.choice(tied))


FEATURES = ("delay", "context", "constraint", "availability", "outcome")


@states_propensities
@handles(*FEATURES)
def epsilon_greedy(
    setting: Setting, *, epsilon: float = 0.1, num_trials: int | None = None
) -> EpsilonGreedy | TrialList:
    """Epsilon-greedy: mostly the arm of the best mean, else one that was not played: a reference.

    Means are of the delivered values of each arm in the observed context; nothing is carried from one context
    or arm to another. Under a budget means are divided by those of the costs; with constraints, arms whose
    mean costs are at most 0 come first.

    Args:
        epsilon: share of the rounds in which an arm that was not played is drawn, any if all were.
    """
    require_probability("epsilon", epsilon)
    return each_trial(lambda _: EpsilonGreedy(setting, 1, epsilon), num_trials)


@handles(*FEATURES)
def local_search(
    setting: Setting,
    *,
    initial: int = 10,
    explore: float = 0.3,
    nearest: int = 30,
    num_trials: int | None = None,
) -> LocalSearch | TrialList:
    """Local search: random plays, then the arm of the best mean or one near to it: a reference.

    There is one search a context. Distances are those of the features as they are published; under a budget
    means are divided by those of the costs; with constraints, arms whose mean costs are at most 0 come first.

    Args:
        initial: random plays of each context, without repetition.
        explore: share of the later rounds in which a near arm is played.
        nearest: arms that are near to the best.
    """
    require_integer("initial", initial, 1, "it is a number of plays")
    require_integer("nearest", nearest, 1, "it is a number of arms")
    require_probability("explore", explore)
    return each_trial(lambda _: LocalSearch(setting, initial, explore, nearest), num_trials)
