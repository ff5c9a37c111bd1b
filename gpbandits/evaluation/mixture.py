"""The best feasible mixture of points is the best average reward of randomised actions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog

from bandit_envs.basics.types import Floats


class Mixture(NamedTuple):
    """A mixture is a distribution over points, of which at most 1 + C have a positive share."""

    value: float  # mean reward
    shares: Floats  # (N,)


def best_mixture(means: Floats) -> Mixture:
    r"""Solve max_p sum_i p_i f(x_i) subject to sum_i p_i g_j(x_i) <= 0 for all j, a linear programme.

    Its value is at least that of the best feasible *fixed* point, the comparator of regret (Shi & Eryilmaz
    2022): violation may cancel over time, so a mixture can gain from points that are infeasible.

    Args:
        means: reward, then costs, of each point of one segment and context, (1 + C, N); for a trial
            `env.unwrapped.problem.draw(entropy).means[segment]`, on a box values on a fine grid.
    """
    means = np.asarray(means, dtype=np.float64)
    if means.ndim != 2 or not means.size or not np.isfinite(means).all():
        raise ValueError(f"means must be finite numbers of shape (1 + C, N), got shape {means.shape}")
    costs, ones = means[1:], np.ones((1, means.shape[1]))
    solution = linprog(
        -means[0],
        A_ub=costs if len(costs) else None,
        b_ub=np.zeros(len(costs)) if len(costs) else None,
        A_eq=ones,
        b_eq=[1.0],
    )
    if solution.status == 2:
        raise ValueError("means must have costs that some mixture keeps <= 0, got none; lower the costs")
    if not solution.success:
        raise RuntimeError(f"the linear programme was not solved: {solution.message}")
    return Mixture(-float(solution.fun), solution.x)
