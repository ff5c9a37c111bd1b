"""Which representation serves a problem best."""

from __future__ import annotations

from bandit_envs.basics.arguments import require_positive
from bandit_envs.basics.types import Floats
from bandit_envs.kernels.gram import Gram

from .base import Posterior
from .costs import costs_of
from .dense import DensePosterior
from .factor import FactorPosterior
from .kronecker import KroneckerPosterior
from .pairs import PairPosterior
from .table import TablePosterior
from .weight_space import WeightSpacePosterior

TABLES: dict[str, type[TablePosterior]] = {
    "weight-space": WeightSpacePosterior,
    "dense": DensePosterior,
    "factor": FactorPosterior,
    "kronecker": KroneckerPosterior,
}
FORMS: dict[str, type[Posterior]] = {**TABLES, "pairs": PairPosterior}
MOST_WEIGHTS = 2048  # of the factors of a grid that is too large for one root
DENSE_BYTES = 2**30  # of all trials' covariances
TABLE_POINTS = 4096  # of all contexts; more are looked at one context at a time
FACTOR_BYTES = 2**30  # of all trials' rows over the points of all contexts


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
        gram: the prior covariance on the N points.
        noise: lambda > 0, the noise variance that the model assumes; one number, or one a trial (B,).
        num_trials: B.
        horizon: observations that are expected of a trial; more are allowed.
        form: a name in `FORMS`; None chooses by kernel rank, size and horizon, see `costs`.
        num_contexts: Z, into which the points are divided; one of them is asked for at a time.
    """
    form = best_form(gram, num_trials, horizon, num_contexts) if form is None else form
    if form not in FORMS:
        raise ValueError(f"unknown posterior form {form!r}; choose one of {', '.join(sorted(FORMS))}")
    require_positive("noise", noise, "give the noise variance that the model assumes, such as 0.01")
    return FORMS[form](gram, noise, num_trials)


def best_form(gram: Gram, num_trials: int, horizon: int, num_contexts: int = 1) -> str:
    """Pairs for many points in contexts, factors for a large grid, else the cheapest table that fits."""
    if num_contexts > 1 and gram.size > TABLE_POINTS:
        return "pairs"
    if not gram.has_quick_root and gram.is_product and gram.kronecker.rank <= MOST_WEIGHTS:
        return "kronecker"
    costs = costs_of(gram, horizon)
    if 8 * num_trials * gram.size**2 > DENSE_BYTES:
        del costs["dense"]
    if 8 * num_trials * gram.size * min(horizon, gram.size) > FACTOR_BYTES:
        del costs["factor"]
    last = "factor" if num_contexts == 1 else "pairs"  # which take as much memory as there are plays
    return min(costs, key=lambda form: costs[form], default=last)
