"""The safely reachable arms bound the arms that an agent can certify without violating a cost."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.spatial.distance import cdist

from bandit_envs.basics.arguments import require_not_negative, require_positive
from bandit_envs.basics.types import Bools, Floats
from bandit_envs.kernels.sizes import BLOCK_BYTES


def reachable(costs: Floats, seed: Bools, points: Floats, lipschitz: Floats, eps: float = 0.0) -> Bools:
    """Return Rbar_eps(S0), the points certified from a safe seed by costs of accuracy eps, (N,).

    R_eps(S) = S and all x' such that for every j some x in S has g_j(x) + eps + L_j |x - x'| <= 0, iterated
    to its fixed point (Sui et al. 2015, in our sign). O(C N^2).

    Args:
        costs: g at all points, (C, N).
        seed: S0, (N,).
        points: features, (N, d).
        lipschitz: L of each cost, (C,).
        eps: accuracy of the costs.
    """
    require_not_negative("eps", eps, "it is the accuracy of the costs")
    slopes, reached, certified = np.asarray(lipschitz)[:, None, None], seed.copy(), np.zeros_like(costs, bool)
    fresh, rows = seed.nonzero()[0], max(1, BLOCK_BYTES // (8 * costs.size))
    while len(fresh):  # each point certifies others once
        for begin in range(0, len(fresh), rows):
            here = fresh[begin : begin + rows]
            distance = cdist(points[here], points)
            certified |= (costs[:, here, None] + eps + slopes * distance <= 0.0).any(axis=1)
        more: Bools = np.asarray(reached | certified.all(axis=0))
        fresh, reached = (more & ~reached).nonzero()[0], more
    return reached


def component(costs: Floats, seed: Bools, points: Floats, radius: float) -> Bools:
    """Return the feasible points connected with a safe seed, (N,), a variant of `reachable` without L.

    Args:
        costs: g at all points, (C, N).
        seed: S0, (N,).
        points: features, (N, d).
        radius: largest distance of neighbours, such as the spacing of a grid.
    """
    require_positive("radius", radius, "neighbours are no farther apart")
    near = cdist(points, points) <= radius * (1.0 + 1e-9)
    feasible = np.asarray((costs <= 0.0).all(axis=0))
    return _closure(seed, lambda reached: feasible & near[reached].any(axis=0))


def coverage(safe: Bools, reached: Bools) -> float:
    """Return |S| / |Rbar|, the certified points relative to the reachable ones; above 1 only by errors."""
    return float(safe.sum() / reached.sum())


def _closure(seed: Bools, step: Callable[[Bools], Bools]) -> Bools:
    reached = seed.copy()
    while True:
        more = np.asarray(reached | step(reached))
        if (more == reached).all():
            return reached
        reached = more
