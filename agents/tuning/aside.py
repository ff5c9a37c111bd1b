"""Alternatives to an experiment whose parameters are already running."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bandit_envs.basics.types import Floats

from .gate import Gate

SAME = 1e-6  # of a range: parameters that are no further apart are equal
BESIDE = 0.02  # of a range: least difference in some parameter of an informative alternative


def beside(point: Floats, taken: Floats, among: Floats, gate: Gate) -> Floats | None:
    """Return the point nearest to the chosen one that differs from all running ones; None without one.

    Args:
        point: the agent's choice, (d,).
        taken: the running points, (m, d).
        among: possible points, (n, d).
        gate: mask of the points that are likely to succeed.
    """
    free = (np.abs(among[:, None] - taken).max(axis=2) > BESIDE).all(axis=1) & gate.admits(among)
    distance = np.where(free, np.abs(among - point).sum(axis=1), np.inf)
    best = int(distance.argmin())
    return among[best] if free[best] else None


def runs(point: Floats, taken: Sequence[Floats]) -> bool:
    """Return True if a point, (d,), is among the running ones."""
    return any(np.abs(point - each).max() <= SAME for each in taken)
