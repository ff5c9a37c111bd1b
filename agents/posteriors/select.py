"""The representation that serves a problem best, by a model of what a round costs in each.

With r the rank of the prior and u the distinct points that a trial is expected to play, one play on N points

    weight space    reads R (r, N), and S (r, r) three times,
    factor          reads V (u, N), and computes it anew now and then; trials are looped over,
    dense           reads half a block of U (BLOCK, N), and computes N^2 products of Sigma -= U'U,
    kronecker       reads S (r, r) three times, and computes the products of the factors of R,
    plays           reads L (u, u), and combines u columns of K: by a grid's factors, Fourier transforms or
                    covariances that are computed anew,
    pairs           reads L (u, u), and adds a row of V (u, N): at a context's arms when it returns.

The number of trials is left out, so that results do not depend on how a run is cut into batches.
"""

import math

from bandit_envs.basics.arguments import ArgumentError, require_positive
from bandit_envs.basics.types import Floats
from bandit_envs.kernels.circulant import Circulant
from bandit_envs.kernels.gram import Gram
from bandit_envs.kernels.kronecker import Kronecker

from .base import Posterior
from .dense import BLOCK, DensePosterior
from .factor import FIRST_CAPACITY, FactorPosterior, PlayPosterior
from .pairs import PairPosterior
from .table import TablePosterior
from .weight_space import KroneckerPosterior, WeightSpacePosterior

# Nanoseconds, measured by `benchmarks/forms.py`; only their ratios matter.
READ = 0.25  # reading an entry of a matrix in a product with a vector
PRODUCT = 0.05  # a multiplication in a product of two matrices
LAG = 1.0  # transforming a point of a torus twice, times the binary logarithm of their number
COVARIANCE = 30.0  # the covariance of two points
REBUILT = 1.4  # rows read and recomputed, per row that is kept
LOOPED = 3000.0  # a trial in a loop over trials
MEAN_AND_VARIANCE = 5  # tables over the points: mean, variance, counts, sums, and scratch memory
ROWS = 3.3  # rows allocated by a factor per distinct point: up to 1.65 are filled, and it doubles
DISTINCT = 3.0  # distinct points per root of the rounds: 2 to 4 measured, in one and two dimensions
TABLES: dict[str, type[TablePosterior]] = {
    "weight-space": WeightSpacePosterior,
    "dense": DensePosterior,
    "factor": FactorPosterior,
    "kronecker": KroneckerPosterior,
    "plays": PlayPosterior,
}
FORMS: dict[str, type[Posterior]] = {**TABLES, "pairs": PairPosterior}
MOST_WEIGHTS = 2048  # of a grid's factors, up to which samples are cheaper than those from plays
DENSE_BYTES = 2**30  # of all trials' covariances
TABLE_POINTS = 4096  # of all contexts; beyond it one context is read at a time
FACTOR_BYTES = 2**30  # of all trials' rows over the points of all contexts, if all plays are distinct
MOST_BYTES = 2**33  # expected memory of a form


def expected_distinct(size: int, horizon: int) -> float:
    """Return the expected number of distinct points of a trial, u = 3 sqrt(T), at most N."""
    return min(size, DISTINCT * horizon**0.5)


def costs_of(gram: Gram, horizon: int) -> dict[str, tuple[float, float]]:
    """Return of each applicable form the nanoseconds a round, and the numbers that a trial keeps.

    The prior and tables over the points are left out. Weight space needs a prior of low rank, and the
    Kronecker form a grid too large for it.
    """
    size, distinct = gram.size, expected_distinct(gram.size, horizon)
    rows = ROWS * distinct + FIRST_CAPACITY
    costs = {
        "factor": (LOOPED + REBUILT * READ * distinct * size, rows * size),
        "dense": (READ * BLOCK / 2 * size + PRODUCT * size**2, size**2),
        "plays": (LOOPED + REBUILT * READ * distinct**2 + combination(gram, distinct), rows**2),
    }
    if isinstance(gram.structure, Kronecker):
        costs["kronecker"] = _cost_of_factors(gram.structure), gram.structure.rank**2
    elif gram.low_rank_root is not None:
        rank = len(gram.low_rank_root)
        costs["weight-space"] = READ * rank * (size + 3 * rank), rank**2
    return costs


def _cost_of_factors(known: Kronecker) -> float:
    return READ * 3 * known.rank**2 + PRODUCT * known.expansion


def combination(gram: Gram, count: float) -> float:
    """Return the nanoseconds of K[:, X] w for `count` points X."""
    if isinstance(gram.structure, Kronecker):
        return PRODUCT * gram.structure.products(count)
    if isinstance(gram.structure, Circulant):
        return LAG * gram.structure.lags * math.log2(gram.structure.lags)
    return COVARIANCE * count * gram.size


def _bytes(size: int, kept: float, num_trials: int) -> float:
    """Return the memory of all trials whose forms keep so many numbers besides tables over the points."""
    return 8.0 * num_trials * (MEAN_AND_VARIANCE * size + kept)


def posterior(
    gram: Gram,
    noise: float | Floats,
    num_trials: int,
    horizon: int,
    form: str | None = None,
    num_contexts: int = 1,
) -> Posterior:
    """Return the posterior of B trials on the points of a prior, in the fastest exact form.

    Args:
        noise: lambda > 0, the noise variance that the model assumes; one number, or one a trial (B,).
        horizon: expected observations of a trial; more are allowed.
        form: a name in `FORMS`; None chooses by kernel rank, size and horizon, see `costs_of`.
        num_contexts: Z, into which the points are divided; one of them is read at a time.
    """
    form = best_form(gram, num_trials, horizon, num_contexts) if form is None else form
    if form not in FORMS:
        raise ValueError(f"unknown posterior form {form!r}; choose one of {', '.join(sorted(FORMS))}")
    require_positive("noise", noise, "give the noise variance that the model assumes, such as 0.01")
    return FORMS[form](gram, noise, num_trials)


def best_form(gram: Gram, num_trials: int, horizon: int, num_contexts: int = 1) -> str:
    """Return factors for a large grid, those or pairs for many points in contexts, else the cheapest form.

    That is the cheapest form that fits for any plays; if none does, of those that are expected to fit.
    """
    if num_contexts > 1 and gram.size > TABLE_POINTS:
        return _form_of_pairs(gram, num_trials, horizon, num_contexts)
    costs = costs_of(gram, horizon)
    kept = {form: _bytes(gram.size, numbers, num_trials) for form, (_, numbers) in costs.items()}
    fitting = {form for form, size in kept.items() if size <= MOST_BYTES}
    if "kronecker" in fitting and gram.kronecker.rank <= MOST_WEIGHTS:
        return "kronecker"
    if 8 * num_trials * gram.size**2 > DENSE_BYTES:
        fitting.discard("dense")
    sure = fitting if gram.structure is not None else fitting - {"plays"}
    if 8 * num_trials * gram.size * min(horizon, gram.size) > FACTOR_BYTES:
        sure = sure - {"factor"}
    if not sure and num_contexts > 1:
        return "pairs"
    if not fitting:
        raise ArgumentError(
            "num_arms",
            f"must be so few that the posterior fits into {MOST_BYTES / 2**30:.0f} GB, got {gram.size} in "
            f"all contexts, for which {num_trials} trials take {min(kept.values()) / 2**30:.0f} GB at least; "
            'take fewer, or a smaller batch of trials, or name a form, such as form="plays", whatever memory '
            "it takes",
        )
    return min(sure or fitting, key=lambda form: costs[form][0])


def _form_of_pairs(gram: Gram, num_trials: int, horizon: int, num_contexts: int) -> str:
    """Return the cheaper form for many pairs: few weights of a product of kernels, or rows.

    Each context is a problem of its own share of the rounds.
    """
    if gram.tried_rank is None or not gram.is_product:  # the roots of many weights would take minutes
        return "pairs"
    distinct = min(horizon, expected_distinct(gram.size, num_contexts * horizon))
    rows = LOOPED + REBUILT * READ * distinct**2 + (COVARIANCE + PRODUCT * distinct) * gram.size
    fits = _bytes(gram.size, gram.kronecker.rank**2, num_trials) <= MOST_BYTES
    return "kronecker" if fits and _cost_of_factors(gram.kronecker) < rows else "pairs"
