"""What may be told of the costs of a trial, so that an agent can keep them in every round."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from bandit_envs.basics.types import Floats
from bandit_envs.kernels.sizes import BLOCK_BYTES
from bandit_envs.problem.decisions import Decisions

MARGIN = 0.1  # prior deviations by which every cost of a safe seed is kept
TRIES = 1000  # draws of the costs until an arm is safe in all segments and contexts
CAUTION = 1.1  # factor of the steepest slope between two points


class SafeArm(NamedTuple):
    """The arm whose largest cost, over costs, contexts and segments, is least."""

    arm: int
    worst: float  # that cost


def safe_arm(costs: Floats, decisions: Decisions) -> SafeArm:
    """The safest arm under costs at all points, (V, C, N)."""
    worst = costs.reshape(-1, decisions.num_arms).max(axis=0)
    arm = int(worst.argmin())
    return SafeArm(arm, float(worst[arm]))


def lipschitz(costs: Floats, points: Floats) -> Floats:
    """1.1 max |g(x) - g(x')| / |x - x'| of each cost over all pairs of points, (V, C, N) -> (C,); O(N^2)."""
    values = np.swapaxes(costs, 0, 1)  # (C, V, N)
    steepest = np.zeros(len(values))
    rows = max(1, BLOCK_BYTES // (8 * len(points)))
    for begin in range(0, len(points), rows):
        distance = cdist(points[begin : begin + rows], points)
        distance[distance == 0.0] = np.inf
        for version in np.swapaxes(values, 0, 1):
            slope = np.abs(version[:, begin : begin + rows, None] - version[:, None]) / distance
            steepest = np.maximum(steepest, slope.max(axis=(1, 2)))
    return CAUTION * steepest
