"""Agents across environments: relative losses, and ranks as sets.

A *loss* of a trial is to be minimised, a *score* to be maximised. Intervals are percentile intervals of a
bootstrap that resamples the trials of each environment separately (stratified, Agarwal et al. 2021, section
4.1), jointly for all agents.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import t as student

from bandit_envs.basics.arguments import require_known
from bandit_envs.basics.types import Floats, Ints
from gpbandits.evaluation.statistics import interval
from gpbandits.evaluation.statistics.pairs import LEVEL, holm, ordered

TELLING = 6  # fewest differences that are not 0: with fewer, equal signs by chance keep p above .06
FLOOR = 0.25  # quantile of the pairs' standard errors below which none counts; the larger, the less power
_TRIALS = 100  # whose draws are made at once: those of 2000 resamples are 2 MB


class Rank(NamedTuple):
    """A rank is an agent's place in order, with the least and largest rank of its confidence set."""

    place: int  # from 1; equal means share the least
    low: int
    high: int


def rank_sets(losses: Mapping[str, Floats], first: Mapping[str, Floats] | None = None) -> dict[str, Rank]:
    r"""Return sets of ranks that jointly contain the true rank of every agent with probability 95 %.

    The set of agent j among p is {1 + better_j, ..., p - worse_j}, where better_j and worse_j count the
    agents with significantly less and more mean loss (Mogstad, Romano, Shaikh & Wilhelm 2024, section 3). All
    p (p - 1) / 2 paired differences are tested together by `joint_tests`: unless one of them errs, at least
    better_j agents are truly ahead of j, and worse_j behind. Where something comes `first`, true ranks are by
    its mean, and by mean loss among equal ones: the loss is tested for pairs that have equal values of it in
    every trial, for else a difference too small to be significant may be the one that decides. So a pair that
    does not differ significantly in what comes first is left open, and violations that no trial shows are not
    counted. Places are those of `ordered`.

    Args:
        losses: losses of each agent on the same trials, (B,) each; less is better.
        first: what counts before losses, as for `ordered`.

    Example:
        >>> rank_sets({"a": np.arange(8.0), "b": np.arange(8.0) + 1})["b"]
        Rank(place=2, low=2, high=2)
    """
    size = len(losses)
    pairs = np.array(list(combinations(range(size), 2)), dtype=np.int64).reshape(-1, 2)
    table, quantity = _table(losses), np.zeros(len(pairs), dtype=np.int64)
    differences = np.diff(table[:, pairs], axis=2)[..., 0]  # the second of each pair minus the first, (B, P)
    if first is not None:
        before = np.diff(_table({label: first[label] for label in losses})[:, pairs], axis=2)[..., 0]
        quantity = (before != 0).any(axis=0).astype(np.int64)
        differences = np.where(quantity, before, differences)
    differ = joint_tests(differences, quantity) <= 1 - LEVEL
    sign = np.sign(differences.mean(axis=0)) * differ  # > 0: the first of the pair is ahead
    ahead = np.where(sign[:, None] > 0, pairs, pairs[:, ::-1])[sign != 0]  # (winner, loser)
    worse, better = (np.bincount(column, minlength=size) for column in ahead.T)
    means, order = table.mean(axis=0), ordered(losses, first)
    places = np.array([1 + order.index(label) for label in losses])
    if first is None:  # equal means share the least place, but for the last bit
        places = 1 + (means[:, None] - means > 1e-12 * np.abs(means).max()).sum(axis=1)
    lows, highs = np.minimum(1 + better, places), np.maximum(size - worse, places)
    sets = zip(places.tolist(), lows.tolist(), highs.tolist(), strict=True)
    return {label: Rank(*each) for label, each in zip(losses, sets, strict=True)}


def _table(values: Mapping[str, Floats]) -> Floats:
    """Return the values as columns, (B, p)."""
    return np.stack([interval.checked(each) for each in values.values()], axis=1)


def joint_tests(differences: Floats, quantity: Ints | None = None) -> Floats:
    r"""Return p-values of mean 0 in columns of paired differences, adjusted jointly, (B, P) -> (P,).

    p = P(|T| > |mean| / max(e, q)), T of Student's law with B - 1 degrees of freedom, e the standard error
    of a column, q the `FLOOR` quantile of those of all columns of its quantity; then Holm's correction. Each
    column has its own p-value, so that two agents that are nearly the same, whose few differences may have
    any t, cost the others nothing: the largest of all studentised means, by which Romano & Wolf (2005) judge,
    would be theirs. The floor guards against agents whose rare large losses these trials do not show, as
    far as that is possible: agents that are stuck in 15 % of 20 trials and are compared with even ones of
    the same mean err in a tenth of cases. p = 1 where fewer than `TELLING` trials differ; columns that are 0,
    or repeat others, are no further tests. `benchmarks/rank_sets.py` measures errors and power.

    Args:
        quantity: number of what a column is a difference of, (P,); by default all are of one, in one unit.
    """
    differences = interval.checked(differences)
    p_values = np.ones(differences.shape[1])
    (some,) = (differences != 0).any(axis=0).nonzero()
    if not len(some):
        return p_values
    kinds = np.zeros(len(some), dtype=np.int64) if quantity is None else quantity[some]
    columns = differences[:, some]
    sign = np.sign(columns[(columns != 0).argmax(axis=0), np.arange(len(some))])  # b - a repeats a - b
    _, first, again = np.unique(
        np.vstack([kinds, columns * sign + 0.0]), axis=1, return_index=True, return_inverse=True
    )
    tests = np.empty(len(first))
    for kind in np.unique(kinds):
        own = kinds[first] == kind
        tests[own] = _floored_tests(columns[:, first[own]])
    p_values[some] = np.array(holm(tests))[again.ravel()]
    return p_values


def _floored_tests(columns: Floats) -> Floats:
    """Return the p-values of columns of one quantity, each by itself, (B, P) -> (P,)."""
    telling = (columns != 0).sum(axis=0) >= TELLING
    if not telling.any():
        return np.ones(len(telling))
    size, mean = len(columns), columns.mean(axis=0)
    error = columns.std(axis=0, ddof=1) / np.sqrt(size)
    error = np.maximum(error, np.quantile(error[telling], FLOOR))
    even = error <= 1e-12 * np.abs(mean)  # equal differences differ in the last bit
    t = np.where(even, np.inf, np.abs(mean) / np.where(even, 1.0, error))
    return np.where(telling, 2 * student.sf(t, size - 1), 1.0)


RESAMPLES = 2000  # as Agarwal et al. (2021)


def normalised_scores(losses: Mapping[str, Floats], reference: str) -> dict[str, Floats]:
    """Return 1 - loss / mean loss of the reference, (B,) each: 1 without loss, 0 as the reference in mean."""
    require_known("reference", reference, losses)
    scale = interval.checked(losses[reference]).mean()
    if scale <= 0:
        raise ValueError(f"the reference {reference!r} must have a positive mean loss, got {scale}")
    return {label: 1 - interval.checked(loss) / scale for label, loss in losses.items()}


def performance_profile(scores: Sequence[Floats], thresholds: Floats) -> interval.Interval:
    """Return the share of trials that score above each threshold, (B,) each -> (T,).

    Environments have equal weights: the run-score distribution of Agarwal et al. (2021), section 4.2, with a
    pointwise 95 % band.
    """
    return _stratified([np.greater.outer(interval.checked(score), thresholds) for score in scores])


def mean_improvement(pairs: Sequence[tuple[Floats, Floats]]) -> interval.Interval:
    """Return the share of trials with less loss than the baseline, ties half, with its 95 % interval -> ().

    Environments have equal weights: the average probability of improvement of Agarwal et al. (2021), section
    4.3, between runs on the same trials. A pair holds the losses of an agent and of the baseline on the same
    trials of an environment, (B,) each.
    """
    wins = []
    for value, baseline in pairs:
        interval.check_pairs(value, baseline)
        wins.append((np.sign(np.subtract(interval.checked(baseline), value)) + 1) / 2)
    return _stratified(wins)


def _stratified(samples: Sequence[Any]) -> interval.Interval:
    """Return the mean over environments of mean samples, (B, ...) each, with its percentile interval."""
    if not samples:
        raise ValueError("statistics across environments need at least one environment, got none")
    estimate = np.mean([sample.mean(axis=0) for sample in samples], axis=0)
    if all(len(sample) == 1 for sample in samples):  # nothing to resample
        return interval.Interval(estimate, np.full_like(estimate, np.nan), np.full_like(estimate, np.nan))
    rng = np.random.default_rng(0)
    # In the order of environments, so that an agent that lacks one keeps the resamples of those before it.
    means = np.mean([_resampled(sample, rng) for sample in samples], axis=0)
    return interval.Interval(estimate, *np.quantile(means, interval.tails(0.95), axis=0))


def _resampled(sample: Any, rng: np.random.Generator) -> Floats:
    """Return the means of resamples of a sample, (B, ...) -> (R, ...), from counts of each trial."""
    counts, first = np.zeros(RESAMPLES * len(sample)), np.arange(RESAMPLES) * len(sample)
    for start in range(0, len(sample), _TRIALS):
        drawn = rng.integers(len(sample), size=(min(_TRIALS, len(sample) - start), RESAMPLES))
        np.add.at(counts, (first + drawn).ravel(), 1.0)
    return counts.reshape(RESAMPLES, -1) @ sample / len(sample)
