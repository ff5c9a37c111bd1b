"""The reward without outliers, and the reward in the worst case nearby."""

from __future__ import annotations

import numpy as np

from bandit_envs.basics.arguments import require, require_positive
from bandit_envs.basics.types import Bools, Floats, Ints

from ..model.model import Model
from .base import NOTHING, PlayByPlay, Revision, Reward

ROUNDING = 1e-9  # relative, of a distance


class Truncated(PlayByPlay):
    """y 1[|y| <= b_t], b_t = v^(1 / (1 + alpha)) t^(1 / (2 (1 + alpha))) (Ray Chowdhury & Gopalan 2019).

    The level is from memory. y is measured from the average prior mean, and t is the round of delivery, which
    is not before that of the play: the bias is not larger. `moment` is v, at least E|y|^(1 + alpha) with
    alpha in (0, 1], by default from B and R.
    """

    def __init__(self, model: Model, num_trials: int, alpha: float = 1.0, moment: float | None = None):
        super().__init__(model, num_trials)
        self._centre = float(np.mean(model.prior_mean))
        self._alpha, self._moment = alpha, np.broadcast_to(moment_of(model, alpha, moment), num_trials)
        self._t = 1

    def values(self, trial: Ints, reward: Floats, cost: Floats) -> Floats:
        """Return the rewards, with the average prior mean in place of those beyond the level."""
        level = truncation(self._moment[trial], self._alpha, self._t)
        return np.where(np.abs(reward - self._centre) <= level, reward, self._centre)

    def beliefs(self, mean: Floats, std: Floats, context: Ints) -> list[tuple[Floats, Floats]]:
        """Return mean and std of the reward; truncation biases the mean, less and less with time."""
        return [(mean, std)]

    def end_round(self, rounds: int) -> Revision:
        """Count the rounds: the next feedback is delivered in round t = rounds + 1."""
        self._t = rounds + 1
        return NOTHING


def truncation(moment: Floats, alpha: float, t: int) -> Floats:
    """Return b_t, (n,)."""
    return moment ** (1.0 / (1.0 + alpha)) * t ** (1.0 / (2.0 * (1.0 + alpha)))


def moment_of(model: Model, alpha: float, moment: float | None) -> Floats:
    """Return v, (1,) or (B,): the given one, or (f_max^2 + R^2)^((1 + alpha) / 2), f_max = B s, by Jensen."""
    require(0.0 < alpha <= 1.0, "alpha", "in (0, 1]: moments of order 1 + alpha are finite", alpha)
    if moment is not None:
        require_positive("moment", moment, "it bounds E|y|^(1 + alpha)")
        return np.atleast_1d(np.asarray(moment, dtype=np.float64))
    apart = float(np.abs(model.prior_mean - np.mean(model.prior_mean)).max())
    largest = np.multiply(model.rkhs_bound, model.deviation) + apart
    return np.atleast_1d((largest**2 + np.square(model.noise_std)) ** ((1.0 + alpha) / 2.0))


class WorstNearby(Reward):
    """min of the score over arms x' with |x' - x| <= eps, in ranges of the features, which have no unit."""

    def __init__(self, model: Model, num_trials: int, *, eps: float):
        super().__init__(model, num_trials)
        self.near = neighbours(model.setting.decisions.unit_arms, eps)

    def penalised(self, scores: Floats, context: Ints, t: Ints) -> Floats:
        return worst_nearby(scores, self.near)


def neighbours(unit_arms: Floats, eps: float) -> Bools:
    """Return the mask of arms within eps of each other, (A, d) in [0, 1] -> (A, A)."""
    square = sum(np.subtract.outer(each, each) ** 2 for each in unit_arms.T)
    return np.asarray(square <= (eps * (1.0 + ROUNDING)) ** 2)


def worst_nearby(values: Floats, near: Bools) -> Floats:
    """Return the smallest values among neighbours, (B, A) and (A, A) -> (B, A), with O(A^2) memory."""
    return np.array([np.where(near, row, np.inf).min(axis=1) for row in values])
