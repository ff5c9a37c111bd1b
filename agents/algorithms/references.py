"""References without a Gaussian process: by means of arms, a linear model, or trees of scikit-learn.

Under a budget their means of rewards are divided by those of costs; with constraints, arms whose mean costs
are at most 0 come first.
"""

from __future__ import annotations

import abc
from typing import Annotated, Any

import numpy as np

from bandit_envs.basics.options import SQUARED_SCALE, count, not_negative, positive, probability, whole
from bandit_envs.basics.types import Floats, Ints
from bandit_envs.problem.setting import Setting

from ..acquisition.improvement import log_expected_improvement
from ..agent.assembly import TrialList, each_trial
from ..agent.reference_agent import TIE, OutcomeTable, ReferenceAgent, largest, preference, tied_with_largest
from ..protocol import handles, states_propensities

FEATURES = ("delay", "context", "constraint", "availability", "outcome")
DIGITS = 6  # of features and values: trees hang on the last bit, which a change of units changes
CANDIDATES = 2000  # arms that trees look at in a round, beside those that were played
SHARE = 5 / 6  # of the features among which a split is sought (Hutter et al. 2011)
LIKELY = 0.5
Share = Annotated[float, probability("it is a share of the rounds")]
NumPlays = Annotated[int, count("it is a number of plays")]
NumTrees = Annotated[int, whole(2, "a std needs two")]
FEWEST = 2  # delivered values that have a std, and that a tree can split


class EpsilonGreedy(ReferenceAgent):
    """Agent that explores in a share of the rounds, and else plays the arm of the best mean in the context.

    The first plays of every context are random, as are those for which no value was delivered.
    """

    def __init__(self, setting: Setting, initial: int, explore: float):
        super().__init__(setting, initial)
        self.share = explore

    def choose(self, first: int, arms: Ints) -> int:
        known = self._known(first, arms)
        if not len(known):
            return self.unplayed(first, arms)
        best = int(known[largest(self.preferences(first + known), self.rng)])
        return self.explored(first, arms, best) if self.rng.random() < self.share else best

    def propensity(self, observation: Floats, action: int) -> float | None:
        """Return the probability of the arm: of exploring it, and of its being the best, or one of them."""
        first = self._first_point(observation)
        size = self.setting.decisions.num_arms
        arms = np.arange(size) if self.offered is None else self.offered[0].nonzero()[0]
        fresh = arms[self.plays[first + arms] == 0]
        explorable = fresh if len(fresh) else arms
        explored = float(action in explorable) / len(explorable)
        known = self._known(first, arms)
        if not len(known):
            return explored
        best = known[tied_with_largest(self.preferences(first + known))]
        return self.share * explored + (1.0 - self.share) * float(action in best) / len(best)

    def _known(self, first: int, arms: Ints) -> Ints:
        """Return the arms with a mean in the context, (n,); none before the end of its first plays."""
        over = self.plays[first : first + self.setting.decisions.num_arms].sum() >= self.initial
        return arms[(self.number[first + arms] > 0) & over]

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


@states_propensities
@handles(*FEATURES)
def epsilon_greedy(
    setting: Setting, *, epsilon: Share = 0.1, num_trials: int | None = None
) -> EpsilonGreedy | TrialList:
    """Epsilon-greedy: mostly the arm of the best mean, else one that was not played: a reference.

    Means are of the delivered values of each arm in the observed context; nothing is carried from one context
    or arm to another.

    Args:
        epsilon: share of the rounds in which an arm that was not played is drawn, any if all were.
    """
    return each_trial(lambda _: EpsilonGreedy(setting, 1, epsilon), num_trials)


@handles(*FEATURES)
def local_search(
    setting: Setting,
    *,
    initial: NumPlays = 10,
    explore: Share = 0.3,
    nearest: Annotated[int, count("it is a number of arms")] = 30,
    num_trials: int | None = None,
) -> LocalSearch | TrialList:
    """Local search: random plays, then the arm of the best mean or one near to it: a reference.

    There is one search a context. Distances are those of the features as they are published.

    Args:
        initial: random plays of each context, without repetition.
        explore: share of the later rounds in which a near arm is played.
        nearest: arms that are near to the best.
    """
    return each_trial(lambda _: LocalSearch(setting, initial, explore, nearest), num_trials)


class LinUCB(ReferenceAgent):
    r"""Play the largest x' theta + alpha sqrt(x' A^-1 x), A = lambda I + sum x x', theta = A^-1 sum x y.

    x is 1 and the features of context and arm, scaled to [0, 1]; y is a value less the mean of the delivered
    ones, over their std, so that alpha has no unit. Costs and the logarithms of prices have models of the
    same kind, whose means decide. O(A d^2) a round.
    """

    def __init__(self, setting: Setting, alpha: float, ridge: float):
        super().__init__(setting, FEWEST)
        self.alpha, self.ridge = alpha, ridge
        self._features = np.column_stack([np.ones(len(setting.decisions.points)), self.unit_points])

    def choose(self, first: int, arms: Ints) -> int:
        if len(self.point) < FEWEST:
            return self.unplayed(first, arms)
        fitted, width, std = self._fitted(self._features[first + arms])
        estimated = self.modelled(fitted)
        optimistic = estimated.reward + self.alpha * std * width
        return int(arms[largest(preference(estimated._replace(reward=optimistic), self.unit), self.rng)])

    def _fitted(self, asked: Floats) -> tuple[Floats, Floats, float]:
        """Return means of reward, log price and costs, (n, 2 + C), sqrt(x' A^-1 x), (n,), and a std."""
        points, values, mean, std = self.standardised()
        played = self._features[points]
        gram = self.ridge * np.eye(played.shape[1]) + played.T @ played
        theta = np.linalg.solve(gram, played.T @ values)
        root = np.linalg.solve(np.linalg.cholesky(gram), asked.T)
        return mean + std * (asked @ theta), np.sqrt((root**2).sum(axis=0)), float(std[0])


@handles(*FEATURES)
def lin_ucb(
    setting: Setting,
    *,
    alpha: Annotated[float, not_negative("it is a multiplier of a deviation")] = 1.0,
    ridge: Annotated[float, positive("it is a prior precision"), SQUARED_SCALE] = 1.0,
    num_trials: int | None = None,
) -> LinUCB | TrialList:
    """LinUCB: an optimistic linear model of the features of context and arm (Li et al. 2010): a reference.

    Args:
        alpha: width, in stds of the delivered values.
        ridge: lambda.
    """
    return each_trial(lambda _: LinUCB(setting, alpha, ridge), num_trials)


class ForestAgent(ReferenceAgent):
    """Agent with trees of the features of context and arm, each fitted to a bootstrap of all outcomes.

    A leaf has the mean reward, log price and costs of its plays. `CANDIDATES` arms are drawn where there are
    more; the arms of a leaf tie, and one of them is drawn.
    """

    def __init__(self, setting: Setting, initial: int):
        super().__init__(setting, initial)
        self._features = np.round(self.unit_points, DIGITS).astype(np.float32)  # as scikit-learn's own

    def choose(self, first: int, arms: Ints) -> int:
        if self.plays.sum() < self.initial or len(self.point) < FEWEST:
            return self.unplayed(first, arms)
        if len(arms) > CANDIDATES:
            drawn = self.rng.choice(arms, CANDIDATES, replace=False)
            arms = np.unique(np.append(drawn, arms[self.plays[first + arms] > 0]))
        return int(arms[largest(self.scores(first + arms), self.rng)])

    @abc.abstractmethod
    def scores(self, points: Ints) -> Floats:
        """Return the scores of points, (n,)."""

    def tree(self) -> Any:
        """Return a function from points, (n,), to a new tree's outcomes there."""
        from sklearn.tree import DecisionTreeRegressor  # 0.3 s

        played, values, mean, std = self.standardised()
        drawn = self.rng.integers(len(played), size=len(played))
        tree = DecisionTreeRegressor(max_features=SHARE, random_state=int(self.rng.integers(2**31)))
        tree.fit(self._features[played[drawn]], np.round(values, DIGITS)[drawn])

        def predicted(points: Ints) -> OutcomeTable:
            return self.modelled(mean + std * tree.predict(self._features[points]).reshape(len(points), -1))

        return predicted


class ForestThompson(ForestAgent):
    """Agent that plays the best arm of one new tree a round."""

    def scores(self, points: Ints) -> Floats:
        return preference(self.tree()(points), self.unit)


class ForestEI(ForestAgent):
    """Agent that plays the largest EI times P(feasible), by means and stds over the trees of a forest.

    EI is over the best mean among the plays that more than half of the trees find feasible; while there is
    none, the arm that most trees find feasible is played, and of these the one of the least mean excess.
    """

    def __init__(self, setting: Setting, initial: int, trees: int):
        super().__init__(setting, initial)
        self.trees = trees

    def scores(self, points: Ints) -> Floats:
        played = np.unique(self.point)
        asked, n = np.concatenate([points, played]), len(points)
        each = [self.tree()(asked) for _ in range(self.trees)]
        excess = np.array([outcomes.excess(self.unit) for outcomes in each])
        rate = np.array([outcomes.rate for outcomes in each])
        feasible, mean, std = (excess <= 0.0).mean(axis=0), rate.mean(axis=0), rate.std(axis=0)
        kept = feasible[n:] > LIKELY
        if not kept.any():
            return feasible[:n] - excess.mean(axis=0)[:n] / (1.0 + excess.max())
        gap = mean[:n] - mean[n:][kept].max()
        scores = feasible[:n] * np.exp(log_expected_improvement(gap, std[:n]))
        # Trees that agree leave a std of rounding alone.
        return scores if scores.max() > TIE * np.ptp(mean) else mean[:n]


@handles(*FEATURES)
def forest_thompson(
    setting: Setting, *, initial: NumPlays = 10, num_trials: int | None = None
) -> ForestThompson | TrialList:
    """Thompson sampling with a random forest: the best arm of one bootstrapped tree: a reference.

    (Eckles & Kaptein 2014; Elmachtoub et al. 2017.)

    Args:
        initial: random first plays, without repetition.
    """
    return each_trial(lambda _: ForestThompson(setting, initial), num_trials)


@handles(*FEATURES)
def forest_ei(
    setting: Setting, *, initial: NumPlays = 10, trees: NumTrees = 10, num_trials: int | None = None
) -> ForestEI | TrialList:
    """Expected improvement with a random forest (Hutter et al. 2011), without SMAC's search: a reference.

    Mean and std are those over the trees; with constraints EI is multiplied by the share of trees that find
    an arm feasible.

    Args:
        initial: random first plays, without repetition.
        trees: of the forest, which is fitted anew in every round; SMAC has 10.
    """
    return each_trial(lambda _: ForestEI(setting, initial, trees), num_trials)
