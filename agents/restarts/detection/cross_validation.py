"""The constant c of the ridge, by leave-one-out cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from bandit_envs.basics.types import Floats

from .rates import TestRates

CROSS_VALIDATED = "cross-validated"  # in place of c
CANDIDATES = tuple(np.geomspace(1e-5, 30.0, 27).tolist())
FEWEST = 8  # samples from which c is chosen


def due(count: int) -> bool:
    """Return True if c is chosen anew at so many samples: at 8, 16, 32, ..."""
    return count >= FEWEST and count & (count - 1) == 0


def best_ridge(
    gram: Floats, value: Floats, rates: TestRates, candidates: Sequence[float] = CANDIDATES
) -> float:
    """Return the c with the least error on samples left out one at a time (Avanesov 2020, Remark 3.1).

    In closed form: with A = K + n rho_n I the error at sample i is (A^-1 y)_i / (A^-1)_ii.

    Args:
        gram: K, (n, n).
        value: y, responses minus their mean, (n, q).
        rates: for any c.
        candidates: values of c to choose from.
    """
    errors = [_left_out(gram, value, replace(rates, ridge=c)) for c in candidates]
    return float(candidates[int(np.argmin(errors))])


def _left_out(gram: Floats, value: Floats, rates: TestRates) -> float:
    n = len(value)
    inverse = np.linalg.inv(gram + rates.penalty(n) * gram.diagonal().max() * np.eye(n))
    return float(np.mean((inverse @ value / inverse.diagonal()[:, None]) ** 2))
