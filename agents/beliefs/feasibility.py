"""The probability that a cost is kept, accurate however unlikely, and the worth of arms that keep none."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import erfcx, log_ndtr

from bandit_envs.basics.types import Floats

INFEASIBLE = -1e9  # worth, in prior stds, below that of all arms that are believed feasible


def log_feasibility(mean: Floats, std: Floats) -> Floats:
    """Return log P(c <= 0) = log Phi(-mean / std) of a cost c ~ N(mean, std^2), both of one shape."""
    return log_ndtr(deviations_below(mean, std))


def deviations_below(mean: Floats, std: Floats) -> Floats:
    """Return -mean / std, of which Phi is the probability of a cost of at most 0; infinite where std = 0."""
    certain = np.where(mean <= 0.0, np.inf, -np.inf)
    return np.where(std > 0.0, -mean / np.where(std > 0.0, std, 1.0), certain)


def log_feasibility_slopes(mean: Floats, std: Floats) -> tuple[Floats, Floats]:
    """Return the derivatives of `log_feasibility` in mean and std; 0 where std = 0."""
    scale = np.where(std > 0.0, std, 1.0)
    z = -mean / scale
    ratio = np.where(std > 0.0, 1.0 / mills_ratio(-z), 0.0)  # phi / Phi
    return -ratio / scale, -ratio * z / scale


def mills_ratio(x: Floats) -> Floats:
    """m(x) = Phi(-x) / phi(x), infinite where it overflows."""
    with np.errstate(over="ignore"):  # the product may overflow where erfcx is finite
        return math.sqrt(math.pi / 2.0) * erfcx(x / math.sqrt(2.0))
