"""Covering is the share of the safely reachable arms that an agent certified or played, in each trial."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bandit_envs.basics.arguments import require
from bandit_envs.basics.types import Bools, Floats
from bandit_envs.kernels.slopes import steepest
from bandit_envs.problem.problem import Problem
from bandit_envs.problem.trial import Trial
from gpbandits.evaluation.safety import reachable

CAUTION = 1.1  # factor of the steepest slope between two points in the definition of reachable arms


def reach_of(problem: Problem, trials: Sequence[Trial | None]) -> Bools | None:
    """Return Rbar_0(S0) of each trial, (B, A); None where it is not defined.

    It needs a published safe seed, a finite set in one context, and functions that do not change.
    """
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
    """A covering counts the reachable arms that B trials have certified or played.

    Args:
        reach: reachable arms of each trial, (B, A).
    """

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
