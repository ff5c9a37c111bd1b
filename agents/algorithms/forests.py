"""References with regression trees of scikit-learn: Thompson sampling, and EI, with a random forest."""

from __future__ import annotations

import abc
from typing import Any

import numpy as np

from bandit_envs.basics.arguments import require_integer
from bandit_envs.basics.types import Floats, Ints
from bandit_envs.problem.setting import Setting

from ..acquisition.improvement import log_expected_improvement
from ..agent.assembly import TrialList, each_trial
from ..agent.reference_agent import TIE, OutcomeTable, ReferenceAgent, largest, preference
from ..protocol import handles
from .means import FEATURES

FEWEST = 2  # delivered values that a tree can split
DIGITS = 6  # of features and values: trees hang on the last bit, which a change of units changes
CANDIDATES = 2000  # arms that trees look at in a round, beside those that were played
SHARE = 5 / 6  # of the features among which a split is sought (Hutter et al. 2011)
LIKELY = 0.5


class ForestAgent(ReferenceAgent):
    """Agent with trees of the features of context and arm, each fitted to a bootstrap of all outcomes.

    A leaf has the mean reward, log price and costs of its plays. `CANDIDATES` arms are drawn where there are
    more; the arms of a leaf tie, and one of them is drawn.
    """

    def __init__(self, setting: Setting, initial: int):
        super().__init__(setting, initial)
        # What scikit-learn converts to.
        self._features = np.round(self.unit_points, DIGITS).astype(np.float32)

    def choose(self, first: int, arms: Ints) -> int:
        if self.plays.sum() < self.initial or len(self.delivered[0]) < FEWEST:
            return self.unplayed(first, arms)
        if len(arms) > CANDIDATES:
            drawn = np.append(
                self.rng.choice(arms, CANDIDATES, replace=False), arms[self.plays[first + arms] > 0]
            )
            arms = np.unique(drawn)
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
        played = np.unique(self.delivered[0])
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
    setting: Setting, *, initial: int = 10, num_trials: int | None = None
) -> ForestThompson | TrialList:
    """Thompson sampling with a random forest: the best arm of one bootstrapped tree: a reference.

    (Eckles & Kaptein 2014; Elmachtoub et al. 2017.) Under a budget the tree's reward is divided by its cost;
    with constraints, arms whose costs it finds at most 0 come first.

    Args:
        initial: random first plays, without repetition.
    """
    require_integer("initial", initial, 1, "it is a number of plays")
    return each_trial(lambda _: ForestThompson(setting, initial), num_trials)


@handles(*FEATURES)
def forest_ei(
    setting: Setting, *, initial: int = 10, trees: int = 10, num_trials: int | None = None
) -> ForestEI | TrialList:
    """Expected improvement with a random forest (Hutter et al. 2011), without SMAC's search: a reference.

    Mean and std are those over the trees, of the reward divided by the cost under a budget; with constraints
    EI is multiplied by the share of trees that find an arm feasible.

    Args:
        initial: random first plays, without repetition.
        trees: of the forest, which is fitted anew in every round; SMAC has 10.
    """
    require_integer("initial", initial, 1, "it is a number of plays")
    require_integer("trees", trees, 2, "a std needs two")
    return each_trial(lambda _: ForestEI(setting, initial, trees), num_trials)
