"""Maximise by local search from a start, on a box or on its feasible part."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.optimize import minimize

from bandit_envs.basics.types import Floats

STEP = 1e-5  # box widths, of central differences; smaller ones pick up the function's rounding
TIGHT = 1e-9  # of a cost's range: violation that counts as the solver's rounding

Function = Callable[[Floats], Floats]


class _Sloped:
    """Evaluate function / scale and its gradient by central differences in one call; cache the last point."""

    def __init__(self, function: Function, low: Floats, high: Floats, scale: float):
        self._function, self._low, self._high, self._scale = function, low, high, scale
        self._shifts = STEP * np.diag(np.maximum(high - low, np.finfo(float).tiny))
        self._seen: tuple[Floats, float, Floats] | None = None

    def at(self, x: Floats) -> tuple[float, Floats]:
        """Return value and gradient, (d,)."""
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
