r"""The cost of a round in each form of the posterior, by a model of its computations and memory.

With r the rank of the prior and u the distinct points that a trial is expected to play, for which the factor
keeps about u rows, one play on N points

    weight space    reads R (r, N), and S (r, r) three times,
    factor          reads V (u, N), and computes it anew now and then; trials are looped over,
    dense           reads half a block of U (BLOCK, N), and computes N^2 products of Sigma -= U'U,
    kronecker       reads S (r, r) three times, and computes the products of the factors of R,
    plays           reads L (u, u), and combines u columns of K: by the factors of a grid, by Fourier
                    transforms of its torus, or of covariances that are computed anew.

The number of trials is left out, so that results do not depend on how a run is cut into batches; the form
that `benchmarks/forms.py` finds best for one trial is nearly always the best for many.
"""

from __future__ import annotations

import math

from bandit_envs.kernels.circulant import Circulant
from bandit_envs.kernels.gram import Gram
from bandit_envs.kernels.kronecker import Kronecker

from .cholesky_rows import FIRST_CAPACITY
from .dense import BLOCK

# Nanoseconds, measured by `benchmarks/forms.py`; only their ratios matter.
READ = 0.25  # reading an entry of a matrix in a product with a vector
PRODUCT = 0.05  # a multiplication in a product of two matrices
LAG = 1.0  # transforming a point of a torus twice, times the binary logarithm of their number
COVARIANCE = 30.0  # the covariance of two points
REBUILT = 1.4  # rows read and recomputed, per row that is kept
LOOPED = 3000.0  # a trial in a loop over trials
TABLES = 5  # tables over the points: mean, variance, counts, sums, and scratch memory
ROWS = 3.3  # rows allocated by a factor per distinct point: up to 1.65 are filled, and it doubles
DISTINCT = 3.0  # distinct points per root of the rounds: 2 to 4 measured, in one and two dimensions


def expected_distinct(size: int, horizon: int) -> float:
    """Return the expected number of distinct points of a trial, u = 3 sqrt(T), at most N."""
    return min(size, DISTINCT * horizon**0.5)


def costs_of(gram: Gram, horizon: int) -> dict[str, float]:
    """Return the nanoseconds a round of each applicable form.

    Weight space needs a prior of low rank, and the Kronecker form a grid too large for it.

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
    """Return the nanoseconds of K[:, X] w for `count` points X."""
    if isinstance(gram.structure, Kronecker):
        return PRODUCT * gram.structure.products(count)
    if isinstance(gram.structure, Circulant):
        return LAG * gram.structure.lags * math.log2(gram.structure.lags)
    return COVARIANCE * count * gram.size


def bytes_of(gram: Gram, horizon: int, num_trials: int) -> dict[str, float]:
    """Return the expected memory of all trials in each applicable form, without the prior."""
    size, rows = gram.size, ROWS * expected_distinct(gram.size, horizon) + FIRST_CAPACITY
    kept = {"factor": rows * size, "dense": size**2, "plays": rows**2}
    if isinstance(gram.structure, Kronecker):
        kept["kronecker"] = gram.structure.rank**2
    elif gram.low_rank_root is not None:
        kept["weight-space"] = len(gram.low_rank_root) ** 2
    return {form: 8.0 * num_trials * (TABLES * size + each) for form, each in kept.items()}
