"""Find arms that satisfy all costs of a trial, so that an agent can satisfy them in every round."""

from __future__ import annotations

import numpy as np

from bandit_envs.basics.types import Floats, Ints
from bandit_envs.problem.decisions import Decisions

MARGIN = 0.1  # slack of a safe seed in every cost, in prior stds
TRIES = 1000  # draws of the costs until an arm is safe in all segments and contexts
SAFEST = "safest"


def safe_arms(costs: Floats, decisions: Decisions, stds: Floats) -> Ints:
    """Return the arms whose costs are at most -`MARGIN` prior stds in all contexts and segments.

    Args:
        costs: (V, C, N).
        decisions: points.
        stds: prior std of each cost, (C,).
    """
    return np.flatnonzero(_worst(costs / stds[:, None], decisions) <= -MARGIN)


def safest_arm(costs: Floats, decisions: Decisions, stds: Floats) -> int:
    """Return the arm whose largest cost in prior stds, over costs, contexts and segments, is least."""
    return int(_worst(costs / stds[:, None], decisions).argmin())


def _worst(costs: Floats, decisions: Decisions) -> Floats:
    """Return the largest cost of each arm, (V, C, N) -> (A,)."""
    return costs.reshape(-1, decisions.num_arms).max(axis=0)
