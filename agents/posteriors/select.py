"""The choice of the posterior's representation."""

from __future__ import annotations

from bandit_envs.basics.arguments import ArgumentError, require_positive
from bandit_envs.basics.types import Floats
from bandit_envs.kernels.gram import Gram

from .base import Posterior
from .costs import bytes_of, costs_of
from .dense import DensePosterior
from .factor import FactorPosterior
from .kronecker import KroneckerPosterior
from .pairs import PairPosterior
from .plays import PlayPosterior
from .table import TablePosterior
from .weight_space import WeightSpacePosterior

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
        horizon: expected observations of a trial; more are allowed.
        form: a name in `FORMS`; None chooses by kernel rank, size and horizon, see `costs`.
        num_contexts: Z, into which the points are divided; one of them is read at a time.
    """
    form = best_form(gram, num_trials, horizon, num_contexts) if form is None else form
    if form not in FORMS:
        raise ValueError(f"unknown posterior form {form!r}; choose one of {', '.join(sorted(FORMS))}")
    require_positive("noise", noise, "give the noise variance that the model assumes, such as 0.01")
    return FORMS[form](gram, noise, num_trials)


def best_form(gram: Gram, num_trials: int, horizon: int, num_contexts: int = 1) -> str:
    """Return pairs for many points in contexts, factors for a large grid, else the cheapest form that fits.

    That is the cheapest form that fits for any plays; if none does, of those that are expected to fit.
    """
    if num_contexts > 1 and gram.size > TABLE_POINTS:
        return "pairs"
    kept, costs = bytes_of(gram, horizon, num_trials), costs_of(gram, horizon)
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
        raise _too_much(gram.size, num_trials, min(kept.values()))
    return min(sure or fitting, key=lambda form: costs[form])


def _too_much(size: int, num_trials: int, least: float) -> ArgumentError:
    """Return the error for points whose posteriors fit in no form."""
    return ArgumentError(
        "num_arms",
        f"must be so few that the posterior fits into {MOST_BYTES / 2**30:.0f} GB, got {size} in all "
        f"contexts, for which {num_trials} trials take {least / 2**30:.0f} GB at least; take fewer, or a "
        'smaller batch of trials, or name a form, such as form="plays", whatever memory it takes',
    )
