"""Find the best and the worst value of a function on a box or on a part of it, once at reset."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy.spatial import KDTree
from scipy.stats import qmc

from bandit_envs.basics.types import Floats
from bandit_envs.problem.climbing import Function, climb, climb_within

CANDIDATES = 2048
STARTS = 8
PENALTIES = (0.3, 3.0, 30.0)  # in ranges of the function a range of the worst cost; each adds starts


def maximise(
    function: Function, low: Floats, high: Floats, anchors: Floats, costs: Sequence[Function] = ()
) -> float:
    """Return the largest value of a smooth function where smooth costs are <= 0 on a box.

    It is a multi-start local search. Halton's points, the corners and the anchors are candidates; from the
    best local maxima among them L-BFGS-B starts, or under costs SLSQP, which also starts at the best by
    penalised value: a feasible set may be small and lie between the candidates. Only the value matters: near
    an interior optimum an error of 1e-7 in x costs 1e-14 in f. The result is minus infinity if no feasible
    point is found.

    Args:
        function: vectorised, (n, d) -> (n,).
        low, high: (d,).
        anchors: further candidates inside the box, (n, d).
        costs: vectorised as the function.
    """
    points = np.vstack([_candidates(low, high), anchors])
    unit = (points - low) / np.where(high > low, high - low, 1.0)
    values = function(points)
    scale = _range(values)
    if not costs:
        # One search a start: a joint search would share step sizes.
        up = partial(climb, function, low=low, high=high, scale=scale)
        return max(float(values.max()), *map(up, points[_peaks(unit, values)]))
    table = np.array([cost(points) for cost in costs])  # (C, n)
    if ((np.ptp(table, axis=1) == 0) & (table[:, 0] > 0)).any():
        return -np.inf  # a constant violation cannot be left
    scales = np.array([_range(row) for row in table])
    worst = np.maximum(table / scales[:, None], 0.0).max(axis=0)
    feasible = np.where(worst > 0, -np.inf, values)
    up = partial(climb_within, function, costs, low=low, high=high, scale=scale, scales=scales)
    return max(float(feasible.max()), *map(up, points[_starts(unit, values / scale, worst)]))


def _peaks(unit: Floats, *scores: Floats) -> Any:
    """Return indices of the best local maxima by each score; other good candidates share their peaks."""
    neighbours = min(2 * unit.shape[1] + 2, len(unit))
    _, near = KDTree(unit).query(unit, k=neighbours)
    peaks = [np.flatnonzero(score >= score[near].max(axis=1)) for score in scores]
    best = [peak[np.argsort(score[peak])[-STARTS:]] for peak, score in zip(peaks, scores, strict=True)]
    return np.unique(np.concatenate(best))


def _starts(unit: Floats, values: Floats, worst: Floats) -> Any:
    """Return indices of the best candidates under each penalty, and of those that violate least."""
    least = np.lexsort((values, -worst))[-STARTS:]
    return np.union1d(_peaks(unit, *(values - penalty * worst for penalty in PENALTIES)), least)


def _candidates(low: Floats, high: Floats) -> Floats:
    unit = qmc.Halton(len(low), scramble=False).random(CANDIDATES)
    corners = np.array(np.meshgrid(*[[0.0, 1.0]] * len(low))).reshape(len(low), -1).T
    return low + (high - low) * np.vstack([unit, corners])


def _range(values: Floats) -> float:
    """Return the range of a function; of a constant its size, or 1 if that is 0."""
    return float(np.ptp(values)) or float(np.abs(values).max()) or 1.0
