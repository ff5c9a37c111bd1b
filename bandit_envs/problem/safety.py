"""Find arms that satisfy all costs of a trial, so that an agent can satisfy them in every round."""

from __future__ import annotations

import numpy as np

from bandit_envs.basics.types import Floats, Ints
from bandit_envs.kernels.gram import Gram
from bandit_envs.problem.decisions import Decisions

MARGIN = 0.1  # slack of a safe seed in every cost, in prior stds
TRIES = 1000  # draws of the costs until an arm is safe in all segments and contexts
SAFEST = "safest"


def margin(gram: Gram) -> float:
    """Return the least slack of a safe seed, in units of the costs."""
    return MARGIN * float(np.sqrt(gram.diagonal.max()))


def safe_arms(costs: Floats, decisions: Decisions, least: float) -> Ints:
    """Return the arms whose costs are at most -least in all contexts and segments, (V, C, N) -> (n,)."""
    return np.flatnonzero(_worst(costs, decisions) <= -least)


def safest_arm(costs: Floats, decisions: Decisions) -> int:
    """Return the arm whose largest cost, over costs, contexts and segments, is least, (V, C, N)."""
    return int(_worst(costs, decisions).argmin())


def _worst(costs: Floats, decisions: Decisions) -> Floats:
    """Return the largest cost of each arm, (A,)."""
    return costs.reshape(-1, decisions.num_arms).max(axis=0)
