"""What is asked for in the place of an experiment that runs already."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bandit_envs.basics.types import Floats

from .gate import Gate

SAME = 1e-6  # of a range: parameters that are no further apart are the same
BESIDE = 0.02  # of a range: what differs by more in a parameter tells something else


def beside(point: Floats, taken: Floats, among: Floats, gate: Gate) -> Floats | None:
    """The nearest of some points that is none of those that run, and likely to succeed; None without one.

    Args:
        point: what the agent chose, (d,).
        taken: what runs, (m, d).
        among: possible points, (n, d).
        gate: says where experiments succeed.
    """
    free = (np.abs(among[:, None] - taken).max(axis=2) > BESIDE).all(axis=1) & gate.admits(among)
    distance = np.where(free, np.abs(among - point).sum(axis=1), np.inf)
    best = int(distance.argmin())
    return among[best] if free[best] else None


def runs(point: Floats, taken: Sequence[Floats]) -> bool:
    """Whether a point, (d,), is among those that run."""
    return any(np.abs(point - each).max() <= SAME for each in taken)
