"""Which representation serves a problem best."""

from __future__ import annotations

from bandit_envs.gram import Gram
from bandit_envs.types import Floats

from ..validation import require_positive
from .base import Posterior
from .dense import DensePosterior
from .factor import FactorPosterior
from .weight_space import WeightSpacePosterior

FORMS: dict[str, type[Posterior]] = {
    "weight-space": WeightSpacePosterior,
    "dense": DensePosterior,
    "factor": FactorPosterior,
}
# Measured: up to 300 points the dense form is the faster one for many trials and loses 4 us a step for one.
# Up to 500 it loses more, but its cost stays where the factor's grows with the points played.
DENSE_POINTS = 300
DENSE_POINTS_IN_LONG_RUNS = 500
LONG_RUN = 4  # rounds a point
DENSE_BYTES = 2**30  # of all trials' covariances


def posterior(
    gram: Gram, noise: float | Floats, num_trials: int, horizon: int, form: str | None = None
) -> Posterior:
    """Return the posterior of B trials on the points of a prior, in the fastest exact form.

    Args:
        gram: the prior covariance on the N points.
        noise: lambda > 0, the noise variance that the model assumes; one number, or one a trial (B,).
        num_trials: B.
        horizon: observations that are expected of a trial; more are allowed.
        form: a name in `FORMS`; None chooses by kernel rank, size and horizon.
    """
    form = form or best_form(gram, num_trials, horizon)
    if form not in FORMS:
        raise ValueError(f"unknown posterior form {form!r}; choose one of {', '.join(sorted(FORMS))}")
    require_positive("noise", noise, "give the noise variance that the model assumes, such as 0.01")
    return FORMS[form](gram, noise, num_trials)


def best_form(gram: Gram, num_trials: int, horizon: int) -> str:
    """Weight space for a low rank, dense for few points, else the factor."""
    if gram.low_rank_root is not None:
        return "weight-space"
    points = DENSE_POINTS_IN_LONG_RUNS if horizon >= LONG_RUN * gram.size else DENSE_POINTS
    fits = 8 * num_trials * gram.size**2 <= DENSE_BYTES
    return "dense" if fits and gram.size <= points else "factor"
