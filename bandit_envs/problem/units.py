"""Map actions to points and back: indices or [-1, 1]^d to and from the kernel's units."""

from __future__ import annotations

from typing import Any

import numpy as np

from bandit_envs.basics.types import Floats

SLACK = 1e-6  # of an action outside the box [-1, 1], by rounding


def arm_at(action: Any, arms: Floats) -> Floats:
    """Return the features of arms by index, (...,) -> (..., d)."""
    return arms[np.asarray(action)]


def nearest_arm(point: Any, arms: Floats) -> Any:
    """Return the index of the nearest arm, (..., d) -> (...)."""
    point = np.asarray(point, dtype=np.float64)
    return ((point[..., None, :] - arms) ** 2).sum(axis=-1).argmin(axis=-1)


def from_cube(action: Any, low: Floats, high: Floats) -> Floats:
    """Map [-1, 1]^d to a box, (..., d) -> (..., d)."""
    return low + (high - low) * (np.asarray(action, dtype=np.float64) + 1.0) / 2.0


def to_cube(point: Any, low: Floats, high: Floats) -> Floats:
    """Map a box to [-1, 1]^d, a side of length 0 to -1, (..., d) -> (..., d)."""
    return 2.0 * (np.asarray(point, dtype=np.float64) - low) / np.where(high > low, high - low, 1.0) - 1.0
