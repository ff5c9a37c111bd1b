"""How far an agent that must keep every cost in every round can come, and how far it came."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.spatial.distance import cdist

from bandit_envs.basics.arguments import require_not_negative, require_positive
from bandit_envs.basics.types import Bools, Floats
from bandit_envs.kernels.sizes import BLOCK_BYTES


def reachable(costs: Floats, seed: Bools, points: Floats, lipschitz: Floats, eps: float = 0.0) -> Bools:
    """Rbar_eps(S0): what can be certified from a safe seed by costs that are known up to eps, (N,).

    R_eps(S) = S and all x' such that for every j some x in S has g_j(x) + eps + L_j |x - x'| <= 0, iterated
    until nothing is new (Sui et al. 2015, in our sign). O(C N^2).

    Args:
        costs: g at all points, (C, N).
        seed: S0, (N,).
        points: features, (N, d).
        lipschitz: L of each cost, (C,).
        eps: what costs are known up to.
    """
    require_not_negative("eps", eps, "costs are known up to it")
    slopes, reached, certified = np.asarray(lipschitz)[:, None, None], seed.copy(), np.zeros_like(costs, bool)
    fresh, rows = seed.nonzero()[0], max(1, BLOCK_BYTES // (8 * costs.size))
    while len(fresh):  # each point is looked from once
        for begin in range(0, len(fresh), rows):
            here = fresh[begin : begin + rows]
            distance = cdist(points[here], points)
            certified |= (costs[:, here, None] + eps + slopes * distance <= 0.0).any(axis=1)
        more: Bools = np.asarray(reached | certified.all(axis=0))
        fresh, reached = (more & ~reached).nonzero()[0], more
    return reached


def component(costs: Floats, seed: Bools, points: Floats, radius: float) -> Bools:
    """The feasible points that are connected with a safe seed, (N,): a reading of the same without L.

    Args:
        costs: g at all points, (C, N).
        seed: S0, (N,).
        points: features, (N, d).
        radius: of neighbours, such as the distance between two points of a grid.
    """
    require_positive("radius", radius, "neighbours are no farther apart")
    near = cdist(points, points) <= radius * (1.0 + 1e-9)
    feasible = np.asarray((costs <= 0.0).all(axis=0))
    return _closure(seed, lambda reached: feasible & near[reached].any(axis=0))


def coverage(safe: Bools, reached: Bools) -> float:
    """|S| / |Rbar|: the share of what can be reached that an agent takes for safe; above 1 where it errs."""
    return float(safe.sum() / reached.sum())


def _closure(seed: Bools, step: Callable[[Bools], Bools]) -> Bools:
    reached = seed.copy()
    while True:
        more = np.asarray(reached | step(reached))
        if (more == reached).all():
            return reached
        reached = more
