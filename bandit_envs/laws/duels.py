"""Duels: two arms are played, and the feedback says who won; laws of the utilities and of the outcome.

With utilities f, arm x beats arm x' with probability s(f(x) - f(x')), s(u) = 1 / (1 + exp(-u)). An arm's
reward is q(x) = s(f(x) - f*), its chance to beat the best arm, at most 1/2; that of a duel is the mean of
both, so its regret is the average regret (s(f* - f(x)) + s(f* - f(x')) - 1) / 2 (Pasztor et al. 2024).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, logit

from bandit_envs.basics.types import Floats
from bandit_envs.kernels.gram import Gram
from bandit_envs.laws.derived import Derived
from bandit_envs.laws.drawn import Drawn
from bandit_envs.laws.noise import Uniform


@dataclass(frozen=True)
class AgainstBest(Derived):
    """Turn another law's utilities f into chances q(z, x) = s(f(z, x) - max f(z, .)) against the best arm.

    The published prior, norm and lower bound stay those of the utilities.

    Args:
        num_arms: A; the best arm is the best of its context.
    """

    num_arms: int = 1

    kept = ("num_functions", "norm_is_drawn", "misspecification")

    def lower_bound(self, gram: Gram, prior_mean: Floats | float, norm: float | None) -> float:
        return self.law.lower_bound(gram, prior_mean, norm)

    def draw(self, gram: Gram, rng: np.random.Generator) -> Drawn:
        drawn = self.law.draw(gram, rng)
        utility = drawn.values.reshape(-1, self.num_arms)
        return Drawn(expit(utility - utility.max(axis=1, keepdims=True)).ravel(), drawn.norm)


@dataclass(frozen=True)
class WhoWins(Uniform):
    """Draw the number v on [-1/2, 1/2] that decides a duel: the first arm wins where v < P(it wins) - 1/2.

    The number is the round's, so all agents meet the same randomness. 1/2 is R of the outcome (Hoeffding).
    """

    std: float = 0.5

    def draw(self, horizon: int, rng: np.random.Generator) -> Floats:
        return rng.uniform(-1.0, 1.0, horizon)


def chance(q: Floats) -> Floats:
    """Return the chance of the first arm to win, from both arms' chances against the best, (..., 2)."""
    return expit(logit(q[..., 0]) - logit(q[..., 1]))


def fought(q: Floats, number: Any) -> tuple[Floats, Floats]:
    """Return reward and outcome of duels, (..., 1) each, from q, (..., 2), and the rounds' numbers, (..., 1).

    The outcome is 1 where the first arm won and 0 where the second did.
    """
    mean = (q[..., :1] + q[..., 1:]) / 2.0
    return mean, (number < chance(q)[..., None] - 0.5).astype(np.float64)
