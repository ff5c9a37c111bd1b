"""The worst case over neighbours of the chosen arm, one of which may be used in its place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints

from .reward import Reward

if TYPE_CHECKING:
    from ..model.model import Model

ROUNDING = 1e-9  # relative, of a distance


class WorstNearby(Reward):
    """min over arms x' with |x' - x| <= eps of the score.

    Args:
        model: has the arms.
        num_trials: B.
        eps: in ranges of the features over the arms, which makes it independent of units.
    """

    def __init__(self, model: Model, num_trials: int, eps: float):
        super().__init__(model, num_trials)
        self.near = neighbours(model.setting.decisions.unit_arms, eps)

    def penalised(self, scores: Floats, context: Ints, t: Ints) -> Floats:
        """Return the smallest scores among neighbours, (B, A)."""
        return worst_nearby(scores, self.near)


@dataclass(frozen=True)
class OfWorstNearby:
    """Builder of the objective from the model and the number of trials.

    Args:
        eps: see `WorstNearby`.
    """

    eps: float

    def __call__(self, model: Model, num_trials: int) -> WorstNearby:
        """Return the objective of a number of trials."""
        return WorstNearby(model, num_trials, self.eps)


def neighbours(unit_arms: Floats, eps: float) -> Bools:
    """Return the mask of arms within eps of each other, (A, d) in [0, 1] -> (A, A)."""
    square = sum(np.subtract.outer(each, each) ** 2 for each in unit_arms.T)
    return np.asarray(square <= (eps * (1.0 + ROUNDING)) ** 2)


def worst_nearby(values: Floats, near: Bools) -> Floats:
    """Return the smallest values among neighbours, (B, A) and (A, A) -> (B, A), with O(A^2) memory."""
    return np.array([np.where(near, row, np.inf).min(axis=1) for row in values])
