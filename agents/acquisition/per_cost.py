"""The Gittins index of Pandora's box, for arms with a cost of opening."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bandit_envs.basics.types import Floats

from .candidates import Candidates
from .improvement import log_improvement_slopes, log_mean_positive_part

MOST_STEPS = 60  # six suffice for usual prices
EPSILON = 1e-14  # relative tolerance of u


@dataclass(frozen=True)
class GittinsIndex:
    """The root v of EI(x; v) = price: the value at which evaluating x is no longer worth its price.

    EI(x; v) = sd h(u) with u = (mu - v) / sd and h(u) = u Phi(u) + phi(u). With independent arms, playing the
    largest index until a value is larger than all of them is optimal (Weitzman 1979); for a Gaussian process
    it is a heuristic (Xie et al. 2024).
    """

    def __call__(self, candidates: Candidates) -> Floats:
        """Return indices in the units of the reward, (B, A)."""
        mean, std = candidates.mean, candidates.std
        return gittins_index(mean, std, np.broadcast_to(candidates.price, mean.shape))


def gittins_index(mean: Floats, std: Floats, price: Floats) -> Floats:
    """Return v with E[max(f - v, 0)] = price of f ~ N(mean, std^2), (B, A) each; mean - price where std is 0.

    Newton's method for log h(u) = log(price / std), which is concave and increasing, so that every step ends
    below the root and the next ones climb to it. As h(u) >= u, u = price / std is above the root, and as
    log h(u) <= -u^2 / 2 for u <= 0, u = -sqrt(-2 log(price / std)) is below it.
    """
    known = std <= 0.0
    ratio = price / np.where(known, 1.0, std)
    target, one = np.log(ratio), np.ones_like(ratio)
    u = np.where(target > 0.0, ratio, -np.sqrt(2.0 * np.maximum(-target, 0.0)))
    for _ in range(MOST_STEPS):
        step = (target - log_mean_positive_part(u)) / log_improvement_slopes(u, one)[0]
        u += step
        if (np.abs(step) <= EPSILON * (1.0 + np.abs(u))).all():
            break
    return np.where(known, mean - price, mean - std * u)
