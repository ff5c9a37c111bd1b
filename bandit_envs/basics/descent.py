"""Local minima in a box, of functions that return value and slopes together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import fmin_l_bfgs_b

from bandit_envs.basics.types import Floats

LIMIT = 15_000  # iterations and calls: scipy's


class SplitFunction:
    """Value and slopes of a function that finds them together; scipy's own way to split it takes longer."""

    def __init__(self, function: Callable[[Floats], tuple[float, Floats]]):
        self._function = function
        self._found = np.empty(0), np.empty(0)  # the latest point, (d,), and the slopes there

    def value(self, x: Floats) -> float:
        """Return the value."""
        value, slopes = self._function(x)
        self._found = x, slopes
        return value

    def slopes(self, x: Floats) -> Floats:
        """Return the slopes, (d,), which are known at the latest point."""
        if not np.array_equal(x, self._found[0]):
            self.value(x)
        return self._found[1]


def descended(
    function: Callable[[Floats], tuple[float, Floats]],
    start: Floats,
    bounds: Any,
    precision: float = 1e7 * np.finfo(np.float64).eps,
    steps: int = LIMIT,
    calls: int = LIMIT,
) -> tuple[Floats, float]:
    """Return the end of L-BFGS-B within bounds, pairs of numbers, and the value there.

    It ends when a step lowers the value by less than `precision` of it, or of 1.
    """
    split, factor = SplitFunction(function), precision / np.finfo(np.float64).eps
    end, value, _ = fmin_l_bfgs_b(
        split.value, start, split.slopes, bounds=bounds, factr=factor, maxiter=steps, maxfun=calls
    )
    return end, float(value)
