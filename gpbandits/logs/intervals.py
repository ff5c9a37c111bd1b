r"""Intervals of an estimate from what each row contributes to its error.

The error is the mean of n contributions psi_t of mean 0, so its variance is about s^2 / n with s^2 their
mean square, and the interval is the estimate plus or minus t s / sqrt(n). s^2 itself is uncertain, most of
all where a few rows have large weights: its relative variance is (k - 1) / n, k = E psi^4 / s^4 the
kurtosis, that of a chi-square variable of 2 n / (k - 1) degrees of freedom, which are those of t. Rows that
depend on what was logged before are no harm: in the right order the contributions are differences of a
martingale. the page on logs shows the coverage that was simulated.
"""

import math

import numpy as np
from scipy.stats import t as student

from bandit_envs.basics.types import Floats

LEVEL = 0.95


def interval(value: float, influence: Floats, level: float = LEVEL) -> tuple[float, float]:
    """Return lower and upper end; infinite where contributions do not differ and show no spread."""
    freedom = degrees_of_freedom(influence)
    if not math.isfinite(value) or freedom < 1.0:
        return -math.inf, math.inf
    std = math.sqrt(float(np.square(influence).mean()) / (len(influence) - 1))
    half = float(student.ppf(0.5 + level / 2.0, freedom)) * std
    return value - half, value + half


def degrees_of_freedom(influence: Floats) -> float:
    """Return 2 n / (k - 1), at most n - 1; 0 of contributions that do not differ."""
    square = np.square(influence)
    size = float(square.mean()) if len(square) > 1 else 0.0
    if size == 0.0:
        return 0.0
    kurtosis = float(np.square(square / size).mean())
    return min(2.0 * len(square) / max(kurtosis - 1.0, 1e-12), len(square) - 1.0)
