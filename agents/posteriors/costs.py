"""What a round of a trial costs in each form of the posterior, by a model of what it computes and keeps.

With r the rank of the prior and u the distinct points that a trial is expected to play, for which the factor
keeps about u rows, one play on N points

    weight space    reads R (r, N), and S (r, r) three times,
    factor          reads V (u, N), and computes it anew now and then; trials are looped over,
    dense           reads half a block of U (BLOCK, N), and computes N^2 products of Sigma -= U'U,
    kronecker       reads S (r, r) three times, and computes the products of the factors of R,
    plays           reads L (u, u), and combines u columns of K: by the factors of a grid, by Fourier
                    transforms of its torus, or of covariances that are computed anew.

The number of trials is no part of it: they play the same however a run is cut into batches, and the form that
`benchmarks/forms.py` finds best for one trial is nearly always the best for many.
"""

from __future__ import annotations

import math

from bandit_envs.kernels.circulant import Circulant
from bandit_envs.kernels.gram import Gram
from bandit_envs.kernels.kronecker import Kronecker

from .cholesky_rows import FIRST_CAPACITY
from .dense import BLOCK

# Nanoseconds, measured by `benchmarks/forms.py`; only their ratios matter.
READ = 0.25  # an entry of a matrix that is multiplied by a vector
PRODUCT = 0.05  # of two matrices
LAG = 1.0  # a point of a torus that is transformed twice, times the logarithm of their number to base 2
COVARIANCE = 30.0  # of two points
REBUILT = 1.4  # rows read and computed anew, a row that is kept
LOOPED = 3000.0  # a trial that is not played together with others
TABLES = 5  # of numbers over the points: mean, variance, counts, sums, and room to compute in
ROWS = 3.3  # for which a factor has room, a distinct point: up to 1.65 are filled, and it doubles
DISTINCT = 3.0  # distinct points, a root of the rounds: 2 to 4 measured, in one and two dimensions


def expected_distinct(size: int, horizon: int) -> float:
    """How many distinct points a trial is expected to play: u = 3 sqrt(T), at most N."""
    return min(size, DISTINCT * horizon**0.5)


def costs_of(gram: Gram, horizon: int) -> dict[str, float]:
    """Nanoseconds a round of each form that can play.

    Weight space needs a prior of low rank, and factors a grid too large for it.

    Args:
        gram: the prior covariance on N points.
        horizon: T.
    """
    size, distinct = gram.size, expected_distinct(gram.size, horizon)
    costs = {
        "factor": LOOPED + REBUILT * READ * distinct * size,
        "dense": READ * BLOCK / 2 * size + PRODUCT * size**2,
        "plays": LOOPED + REBUILT * READ * distinct**2 + combination(gram, distinct),
    }
    if isinstance(gram.structure, Kronecker):
        costs["kronecker"] = READ * 3 * gram.structure.rank**2 + PRODUCT * gram.structure.expansion
    elif gram.low_rank_root is not None:
        rank = len(gram.low_rank_root)
        costs["weight-space"] = READ * rank * (size + 3 * rank)
    return costs


def combination(gram: Gram, count: float) -> float:
    """Nanoseconds of K[:, X] w of so many points X."""
    if isinstance(gram.structure, Kronecker):
        return PRODUCT * gram.structure.products(count)
    if isinstance(gram.structure, Circulant):
        return LAG * gram.structure.lags * math.log2(gram.structure.lags)
    return COVARIANCE * count * gram.size


def bytes_of(gram: Gram, horizon: int, num_trials: int) -> dict[str, float]:
    """What each form that can play is expected to keep of all trials, beside the prior."""
    size, rows = gram.size, ROWS * expected_distinct(gram.size, horizon) + FIRST_CAPACITY
    kept = {"factor": rows * size, "dense": size**2, "plays": rows**2}
    if isinstance(gram.structure, Kronecker):
        kept["kronecker"] = gram.structure.rank**2
    elif gram.low_rank_root is not None:
        kept["weight-space"] = len(gram.low_rank_root) ** 2
    return {form: 8.0 * num_trials * (TABLES * size + each) for form, each in kept.items()}
