"""LinUCB: a linear model of the features (Li et al. 2010; Abbasi-Yadkori et al. 2011), a reference."""

from __future__ import annotations

import numpy as np

from bandit_envs.basics.arguments import require_not_negative, require_scale
from bandit_envs.basics.types import Floats, Ints
from bandit_envs.problem.setting import Setting

from ..agent.assembly import TrialList, each_trial
from ..agent.reference_agent import ReferenceAgent, largest, preference
from ..protocol import handles
from .means import FEATURES

FEWEST = 2  # values that have a std


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
        if len(self.delivered[0]) < FEWEST:
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
    setting: Setting, *, alpha: float = 1.0, ridge: float = 1.0, num_trials: int | None = None
) -> LinUCB | TrialList:
    """LinUCB: an optimistic linear model of the features of context and arm (Li et al. 2010): a reference.

    Under a budget the optimistic reward is divided by the model of the costs; with constraints, arms whose
    modelled costs are at most 0 come first.

    Args:
        alpha: width, in stds of the delivered values.
        ridge: lambda.
    """
    require_not_negative("alpha", alpha, "it is a multiplier of a deviation")
    require_scale("ridge", ridge, "it is a prior precision")
    return each_trial(lambda _: LinUCB(setting, alpha, ridge), num_trials)
