"""Which share of the arms that can be reached safely an agent certified or played, in each trial."""

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

CAUTION = 1.1  # factor of the steepest slope between two points that is granted to who knows the costs


def reach_of(problem: Problem, trials: Sequence[Trial | None]) -> Bools | None:
    """Rbar_0(S0) of each trial, (B, A); None where there is none.

    There is one where a safe seed is told, on a finite set in one context, and functions do not change.
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
    """The arms that B trials have played, and what they cover of what can be reached.

    Args:
        reach: (B, A).
    """

    def __init__(self, reach: Bools):
        self._reach, self._known = reach, np.zeros_like(reach)

    def play(self, action: Any) -> None:
        """Rounds of every trial are over, (B, n)."""
        self._known[np.arange(len(action))[:, None], np.asarray(action, dtype=np.int64)] = True

    def certify(self, certified: Any) -> None:
        """Arms that the agent takes for safe in the end, (B, A) or (A,) of one trial; None is no one."""
        if certified is not None:
            given = np.asarray(certified)
            fits = given.dtype == bool and given.size == self._reach.size
            shape = self._reach.shape
            require(fits, "certified of an agent", f"None or booleans of shape {shape}", certified)
            self._known |= given.reshape(shape)

    @property
    def share(self) -> Floats:
        """|known and reachable| / |reachable|, (B,); the seed is always among what is reachable."""
        return (self._known & self._reach).sum(axis=1) / self._reach.sum(axis=1)
