"""The arms that an agent which must keep every cost can reach, and the share that it certifies."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from bandit_envs.basics.arguments import require, require_not_negative, require_positive
from bandit_envs.basics.types import Bools, Floats
from bandit_envs.kernels.definite import BLOCK_BYTES
from bandit_envs.kernels.validity import steepest
from bandit_envs.problem.problem import Problem
from bandit_envs.problem.trial import Trial

CAUTION = 1.1  # factor of the steepest slope between two points in the definition of reachable arms


def reach_of(problem: Problem, trials: Sequence[Trial | None]) -> Bools | None:
    """Return Rbar_0(S0) of each trial, (B, A); None without a seed, on a box, in contexts or with changes."""
    if not problem.safe_seed or problem.setting().may_change:
        return None
    if problem.decisions.num_contexts > 1:
        return None
    return np.array([_reach(problem, trial) for trial in trials if trial is not None])


def _reach(problem: Problem, trial: Trial) -> Bools:
    costs, points = np.asarray(trial.means)[:, 1:], problem.decisions.points
    seed = np.zeros(costs.shape[2], dtype=bool)
    seed[trial.setting.safe_seed] = True
    slopes = CAUTION * np.array([steepest(cost, points) for cost in np.swapaxes(costs, 0, 1)])
    return reachable(costs[0], seed, points, slopes)


class Covering:
    """A covering counts the reachable arms, (B, A), that B trials have certified or played."""

    def __init__(self, reach: Bools):
        self._reach, self._known = reach, np.zeros_like(reach)

    def play(self, action: Any) -> None:
        """Mark the arms of n rounds as played, (B, n)."""
        self._known[np.arange(len(action))[:, None], np.asarray(action, dtype=np.int64)] = True

    def certify(self, certified: Any) -> None:
        """Mark the arms that the agent certifies as safe in the end, (B, A) or (A,) of one trial, or None."""
        if certified is not None:
            given = np.asarray(certified)
            fits = given.dtype == bool and given.size == self._reach.size
            shape = self._reach.shape
            require(fits, "certified of an agent", f"None or booleans of shape {shape}", certified)
            self._known |= given.reshape(shape)

    @property
    def share(self) -> Floats:
        """Return |known and reachable| / |reachable|, (B,); the seed is always reachable."""
        return (self._known & self._reach).sum(axis=1) / self._reach.sum(axis=1)


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
    """Return the points connected with a safe seed, (N,), where all costs, (C, N), are <= 0.

    It is a variant of `reachable` without L, by the largest distance of neighbours, such as a grid's spacing.
    """
    require_positive("radius", radius, "neighbours are no farther apart")
    near = cdist(points, points) <= radius * (1.0 + 1e-9)
    feasible, before, reached = np.asarray((costs <= 0.0).all(axis=0)), np.zeros_like(seed), seed
    while (before != reached).any():
        before, reached = reached, reached | (feasible & near[reached].any(axis=0))
    return reached.copy()
