"""Risk-averse regret replaces f by f - alpha rho^2, with rho the noise std."""

from __future__ import annotations

import numpy as np

from bandit_envs.basics.arguments import require, require_not_negative
from bandit_envs.basics.types import Floats, Ints
from bandit_envs.environment.vector import BanditVectorEnv
from bandit_envs.problem.problem import Problem
from bandit_envs.problem.trial import Trial
from gpbandits.evaluation.loop import trial_seeds


def risk_averse_regret(
    problem: Problem, actions: Ints, alpha: float, seed: int = 0, entropy: int | None = None
) -> Floats:
    """Return the cumulative regret of plays under f - alpha rho^2, (B, T) (Makarova et al. 2021).

    rho(x) is the noise std at x: `noise={"law": "by-arm"}`.

    Args:
        problem: on a finite set in one context, whose functions do not change.
        actions: `result.actions[label]` of every round of the problem, (B, T).
        alpha: cost of noise variance, for rewards in their own unit; an agent's alpha is for prior stds.
        seed, entropy: seed and entropy of the evaluation.
    """
    require_not_negative("alpha", alpha, "it is the cost of noise variance")
    plain = not problem.decisions.continuous and problem.decisions.num_contexts == 1
    still = plain and not problem.setting().may_change
    require(still, "problem", "on a finite set in one context, without changes", problem.name)
    whole = (
        f"of all {problem.horizon} rounds, (trials, rounds); evaluate without checkpoints, which drop rounds"
    )
    require(np.ndim(actions) == 2 and np.shape(actions)[1] == problem.horizon, "actions", whole, actions)
    env = BanditVectorEnv(problem, len(actions), autoreset_mode="Disabled")
    env.reset(seed=[trial_seeds(seed, i, entropy)[0] for i in range(len(actions))])
    worth = np.array([_worth(problem, trial, alpha) for trial in env.simulator.trials])
    earned = np.take_along_axis(worth, np.asarray(actions, dtype=np.int64), axis=1)
    return np.cumsum(worth.max(axis=1, keepdims=True) - earned, axis=1)


def _worth(problem: Problem, trial: Trial | None, alpha: float) -> Floats:
    """Return f - alpha rho^2 of the arms in a trial, (A,)."""
    assert trial is not None
    mean = np.asarray(trial.means[0, 0], dtype=np.float64)
    rho = problem.noise.scale(mean) * problem.noise.shape(problem.decisions.unit_arms)
    return mean - alpha * rho**2
