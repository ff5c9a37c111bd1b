"""The best and the worst value of a function on a box or on a part of it, found once at reset."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.spatial import KDTree
from scipy.spatial.distance import cdist
from scipy.stats import qmc

from bandit_envs.basics.types import Floats, Ints
from bandit_envs.kernels.definite import BLOCK_BYTES, blocks

STEP = 1e-5  # box widths, of central differences; smaller ones pick up the function's rounding
TIGHT = 1e-9  # of a cost's range: violation that counts as the solver's rounding

Function = Callable[[Floats], Floats]
CANDIDATES = 2048
STARTS = 8
PENALTIES = (0.3, 3.0, 30.0)  # in ranges of the function a range of the worst cost; each adds starts


class _Sloped:
    """Evaluate function / scale and its gradient by central differences in one call; cache the last point."""

    def __init__(self, function: Function, low: Floats, high: Floats, scale: float):
        self._function, self._low, self._high, self._scale = function, low, high, scale
        self._shifts = STEP * np.diag(np.maximum(high - low, np.finfo(float).tiny))
        self._seen: tuple[Floats, float, Floats] | None = None

    def at(self, x: Floats) -> tuple[float, Floats]:
        if self._seen is None or not np.array_equal(self._seen[0], x):
            self._seen = (x.copy(), *self._computed(x))
        return self._seen[1:]

    def value(self, x: Floats) -> float:
        return self.at(x)[0]

    def gradient(self, x: Floats) -> Floats:
        return self.at(x)[1]

    def _computed(self, x: Floats) -> tuple[float, Floats]:
        up, down = (np.clip(x + shift, self._low, self._high) for shift in (self._shifts, -self._shifts))
        points = np.vstack([np.clip(x, self._low, self._high), up, down])
        values = self._function(points) / self._scale
        rise = values[1 : 1 + len(x)] - values[1 + len(x) :]
        apart = np.diag(up - down)
        return float(values[0]), rise / np.where(apart > 0, apart, 1.0)  # a side may have length 0


def climb(function: Function, start: Floats, low: Floats, high: Floats, scale: float) -> float:
    """Return the largest value that L-BFGS-B finds on a box from a start."""
    falling = _Sloped(function, low, high, -scale)  # scaled, because the solver's tolerances are absolute
    bounds = list(zip(low, high, strict=True))
    options = {"ftol": 1e-15, "gtol": 1e-10}
    result = minimize(falling.at, start, bounds=bounds, method="L-BFGS-B", jac=True, options=options)
    return -float(result.fun) * scale


def climb_within(
    function: Function,
    costs: Sequence[Function],
    start: Floats,
    low: Floats,
    high: Floats,
    scale: float,
    scales: Floats,
) -> float:
    """Return the largest value that SLSQP finds where the costs are <= 0; minus infinity if nowhere."""
    falling = _Sloped(function, low, high, -scale)
    slacks = [_Sloped(cost, low, high, -each) for cost, each in zip(costs, scales.tolist(), strict=True)]
    result = minimize(
        falling.value,
        start,
        jac=falling.gradient,
        bounds=list(zip(low, high, strict=True)),
        method="SLSQP",
        constraints=[{"type": "ineq", "fun": each.value, "jac": each.gradient} for each in slacks],
        options={"ftol": 1e-14, "maxiter": 200},
    )
    within = min(each.value(result.x) for each in slacks) >= -TIGHT
    return -float(result.fun) * scale if within else -np.inf


def maximise(
    function: Function, low: Floats, high: Floats, anchors: Floats, costs: Sequence[Function] = ()
) -> float:
    """Return the largest value of a smooth function where smooth costs are <= 0 on a box; -inf if nowhere.

    It is a multi-start local search. Halton's points, the corners (from d = 12 on some of them) and the
    anchors, (n, d) inside the box, are candidates; from the best local maxima among them L-BFGS-B starts, or
    under costs SLSQP, which also starts at the best by penalised value: a feasible set may be small and lie
    between the candidates. Only the value matters: near an interior optimum an error of 1e-7 in x costs 1e-14
    in f. Functions map (n, d) -> (n,).
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
    scaled = values / scale
    least = np.lexsort((scaled, -worst))[-STARTS:]  # the candidates that violate least
    best = _peaks(unit, *(scaled - penalty * worst for penalty in PENALTIES))
    return max(float(feasible.max()), *map(up, points[np.union1d(best, least)]))


def _peaks(unit: Floats, *scores: Floats) -> Any:
    neighbours = min(2 * unit.shape[1] + 2, len(unit))
    near = _nearest(unit, neighbours)
    peaks = [np.flatnonzero(score >= score[near].max(axis=1)) for score in scores]
    best = [peak[np.argsort(score[peak])[-STARTS:]] for peak, score in zip(peaks, scores, strict=True)]
    return np.unique(np.concatenate(best))


def _nearest(unit: Floats, count: int) -> Ints:
    """Return the indices of the points nearest to each, itself included, (n, d) -> (n, count)."""
    if 2 ** unit.shape[1] <= CANDIDATES:
        return np.asarray(KDTree(unit).query(unit, k=count)[1])
    # In many dimensions a tree visits nearly all points, at ten times the price.
    each = (cdist(block, unit, "sqeuclidean") for block in blocks(unit, len(unit), BLOCK_BYTES))
    return np.concatenate([distance.argpartition(count - 1, axis=1)[:, :count] for distance in each])


def _candidates(low: Floats, high: Floats) -> Floats:
    unit = qmc.Halton(len(low), scramble=False).random(CANDIDATES)
    return low + (high - low) * np.vstack([unit, _corners(len(low))])


def _corners(dim: int) -> Floats:
    """Return the corners of [0, 1]^dim, or as many of the 2^dim as there are other candidates, (n, dim)."""
    if 2**dim <= CANDIDATES:
        return np.array(np.meshgrid(*[[0.0, 1.0]] * dim)).reshape(dim, -1).T
    some = np.random.default_rng(0).integers(0, 2, (CANDIDATES // 2, dim)).astype(np.float64)
    return np.vstack([some, 1.0 - some])  # with opposite ones: each side of the box is half of them


def _range(values: Floats) -> float:
    """Return the range of a function; of a constant its size, or 1 if that is 0."""
    return float(np.ptp(values)) or float(np.abs(values).max()) or 1.0
