"""What a round of a trial costs in each form of the posterior, by a model of what it reads and computes.

With r the rank of the prior and u the distinct points that a trial is expected to play, for which the factor
keeps about u rows, one play on N points

    weight space    reads R (r, N), and S (r, r) three times,
    factor          reads V (u, N), and computes it anew now and then; trials are looped over,
    dense           reads half a block of U (BLOCK, N), and computes N^2 products of Sigma -= U'U.

The number of trials is no part of it: they play the same however a run is cut into batches, and the form that
`benchmarks/forms.py` finds best for one trial is nearly always the best for many.
"""

from __future__ import annotations

from bandit_envs.kernels.gram import Gram

from .dense import BLOCK

# Nanoseconds, measured by `benchmarks/forms.py`; only their ratios matter.
READ = 0.25  # an entry of a matrix that is multiplied by a vector
PRODUCT = 0.05  # of two matrices
REBUILT = 1.4  # rows read and computed anew, a row that is kept
LOOPED = 3000.0  # a trial that is not played together with others
DISTINCT = 3.0  # distinct points, a root of the rounds: 2 to 4 measured, in one and two dimensions


def expected_distinct(size: int, horizon: int) -> float:
    """How many distinct points a trial is expected to play: u = 3 sqrt(T), at most N."""
    return min(size, DISTINCT * horizon**0.5)


def costs_of(gram: Gram, horizon: int) -> dict[str, float]:
    """Nanoseconds a round of each form that can play; weight space needs a prior of low rank.

    Args:
        gram: the prior covariance on N points.
        horizon: T.
    """
    size = gram.size
    costs = {
        "factor": LOOPED + REBUILT * READ * expected_distinct(size, horizon) * size,
        "dense": READ * BLOCK / 2 * size + PRODUCT * size**2,
    }
    if gram.low_rank_root is not None:
        rank = len(gram.low_rank_root)
        costs["weight-space"] = READ * rank * (size + 3 * rank)
    return costs
