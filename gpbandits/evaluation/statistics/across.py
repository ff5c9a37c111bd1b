"""Statistics across environments take the environments as fixed and the trials within each as the sample.

A *loss* of a trial is to be minimised, a *score* to be maximised. Intervals are percentile intervals of a
bootstrap that resamples the trials of each environment separately (stratified, Agarwal et al. 2021, section
4.1), jointly for all agents.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from bandit_envs.basics.types import Floats
from gpbandits.evaluation.statistics.interval import Interval, check_pairs, checked, tails

RESAMPLES = 2000  # as Agarwal et al. (2021)


def normalised_scores(losses: Mapping[str, Floats], reference: str) -> dict[str, Floats]:
    """Return 1 - loss / mean loss of the reference, (B,) each: 1 without loss, 0 as the reference, unbounded.

    Args:
        losses: losses of the agents in the trials of one environment, (B,) each.
        reference: label of the agent whose mean score is 0, such as a random one.
    """
    if reference not in losses:
        raise ValueError(f"unknown reference {reference!r}; choose one of {', '.join(losses)}")
    scale = checked(losses[reference]).mean()
    if scale <= 0:
        raise ValueError(f"the reference {reference!r} must have a positive mean loss, got {scale}")
    return {label: 1 - checked(loss) / scale for label, loss in losses.items()}


def performance_profile(
    scores: Sequence[Floats],
    thresholds: Floats,
    level: float = 0.95,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Interval:
    """Return the share of trials that score above each threshold, (B,) each -> (T,).

    Environments have equal weights: the run-score distribution of Agarwal et al. (2021), section 4.2, with a
    pointwise band.
    """
    above = [np.greater.outer(checked(score), thresholds) for score in scores]
    return _stratified(
        lambda drawn: np.mean([part.mean(axis=0) for part in drawn], axis=0), above, level, seed, resamples
    )


def mean_improvement(
    pairs: Sequence[tuple[Floats, Floats]],
    level: float = 0.95,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Interval:
    """Return the share of trials with less loss than the baseline, ties half -> ().

    Environments have equal weights: the average probability of improvement of Agarwal et al. (2021), section
    4.3, between runs on the same trials.

    Args:
        pairs: losses of an agent and of the baseline on the same trials, (B,) each, one pair an environment.
        level: level of the interval.
        seed: seed of the resamples.
        resamples: number of resamples.
    """
    wins = []
    for value, baseline in pairs:
        check_pairs(value, baseline)
        wins.append((np.sign(np.subtract(checked(baseline), value)) + 1) / 2)
    return _stratified(
        lambda drawn: np.mean([part.mean(axis=0) for part in drawn], axis=0), wins, level, seed, resamples
    )


def _stratified(
    statistic: Callable[[list[Any]], Floats],
    samples: Sequence[Any],
    level: float,
    seed: int,
    resamples: int,
) -> Interval:
    """Return a statistic of samples (B, ...), one an environment, with its percentile interval.

    The statistic reduces the first axis of every sample and keeps a second one, of the resamples.
    """
    if not samples:
        raise ValueError("statistics across environments need at least one environment, got none")
    estimate = statistic([sample[:, None] for sample in samples])[0]
    if all(len(sample) == 1 for sample in samples):  # nothing to resample
        return Interval(estimate, np.full_like(estimate, np.nan), np.full_like(estimate, np.nan))
    rng = np.random.default_rng(seed)
    # In the order of environments, so that an agent that lacks one keeps the resamples of those before it.
    drawn = [array[rng.integers(len(array), size=(len(array), resamples))] for array in samples]
    low, high = np.quantile(statistic(drawn), tails(level), axis=0)
    return Interval(estimate, low, high)
