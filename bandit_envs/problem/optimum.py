"""The best and the worst value of a function on a box or on a part of it, found once at reset."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.spatial import KDTree
from scipy.stats import qmc

from bandit_envs.basics.types import Floats

CANDIDATES = 2048
STARTS = 8
STEP = 1e-5  # box widths, of central differences: smaller ones see the rounding of the function
PENALTIES = (0.3, 3.0, 30.0)  # ranges of the function a range of the worst cost; each chooses further starts
TIGHT = 1e-9  # of a cost's range: how far the solver's rounding may carry a point out of the feasible set

Function = Callable[[Floats], Floats]


def maximise(
    function: Function, low: Floats, high: Floats, anchors: Floats, costs: Sequence[Function] = ()
) -> float:
    """Return the largest value of a smooth function where smooth costs are <= 0 on a box.

    Halton's points, the corners of the grid and the anchors are screened; the best peaks among them are
    polished by L-BFGS-B, or under costs by SLSQP, which also starts at the best by penalised value: a
    feasible set may be small and lie between the candidates. Values, not positions, matter: near an interior
    optimum an error of 1e-7 in x costs 1e-14 in f. Minus infinity where no feasible point is found.

    Args:
        function: vectorised, (n, d) -> (n,).
        low, high: (d,).
        anchors: further candidates inside the box, (n, d).
        costs: vectorised as the function.
    """
    points = np.vstack([_candidates(low, high), anchors])
    values = function(points)
    scale = _range(values)
    if not costs:
        climb = partial(_climb, function, low=low, high=high, scale=scale)
        starts = points[_peaks((points - low) / np.where(high > low, high - low, 1.0), values)]
        return max(float(values.max()), *map(climb, starts))
    table = np.array([cost(points) for cost in costs])  # (C, n)
    scales = np.array([_range(row) for row in table])
    worst = np.maximum(table / scales[:, None], 0.0).max(axis=0)
    feasible = np.where(worst > 0, -np.inf, values)
    climb = partial(_climb_within, function, costs, low=low, high=high, scale=scale, scales=scales)
    return max(float(feasible.max()), *map(climb, points[_starts(values / scale, worst)]))


def _peaks(unit: Floats, values: Floats) -> Any:
    """Indices of the best candidates that no neighbour exceeds: the best of all may lie on one hill."""
    neighbours = min(2 * unit.shape[1] + 2, len(unit))
    _, near = KDTree(unit).query(unit, k=neighbours)
    peak = np.flatnonzero(values >= values[near].max(axis=1))
    return peak[np.argsort(values[peak])[-STARTS:]]


def _starts(values: Floats, worst: Floats) -> Any:
    """Indices of the best candidates, among the feasible and under each penalty."""
    ranked = [np.argsort(values - penalty * worst)[-STARTS:] for penalty in PENALTIES]
    ranked += [np.lexsort((values, -worst))[-STARTS:]]  # least violation, then the largest value
    return np.unique(np.concatenate(ranked))


def _candidates(low: Floats, high: Floats) -> Floats:
    unit = qmc.Halton(len(low), scramble=False).random(CANDIDATES)
    corners = np.array(np.meshgrid(*[[0.0, 1.0]] * len(low))).reshape(len(low), -1).T
    return low + (high - low) * np.vstack([unit, corners])


def _range(values: Floats) -> float:
    """The range of a function; of a constant, its size, and 1 where that is 0."""
    return float(np.ptp(values)) or float(np.abs(values).max()) or 1.0


def _climb(function: Function, start: Floats, low: Floats, high: Floats, scale: float) -> float:
    shifts = STEP * np.diag(np.maximum(high - low, np.finfo(float).tiny))

    def loss(x: Floats) -> tuple[float, Floats]:  # scaled, so that the solver's tolerances mean something
        up, down = np.clip(x + shifts, low, high), np.clip(x - shifts, low, high)
        values = -function(np.vstack([np.clip(x, low, high), up, down])) / scale
        rise = values[1 : 1 + len(x)] - values[1 + len(x) :]
        apart = np.diag(up - down)
        return float(values[0]), rise / np.where(apart > 0, apart, 1.0)  # a side may have length 0

    bounds = list(zip(low, high, strict=True))
    options = {"ftol": 1e-15, "gtol": 1e-10}
    result = minimize(loss, start, bounds=bounds, method="L-BFGS-B", jac=True, options=options)
    return -float(result.fun) * scale


def _climb_within(
    function: Function,
    costs: Sequence[Function],
    start: Floats,
    low: Floats,
    high: Floats,
    scale: float,
    scales: Floats,
) -> float:
    def loss(x: Floats) -> float:
        return -float(function(np.clip(x, low, high)[None])[0]) / scale

    def slack(x: Floats) -> Floats:  # (C,)
        point = np.clip(x, low, high)[None]
        return -np.array([float(cost(point)[0]) for cost in costs]) / scales

    result = minimize(
        loss,
        start,
        bounds=list(zip(low, high, strict=True)),
        method="SLSQP",
        constraints=[{"type": "ineq", "fun": slack}],
        options={"ftol": 1e-14, "maxiter": 200},
    )
    return -float(result.fun) * scale if slack(result.x).min() >= -TIGHT else -np.inf
