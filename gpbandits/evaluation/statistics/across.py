"""Agents across environments: the environments are given, the trials within each are the sample.

A *loss* is what an agent should keep small in a trial, a *score* what it should make large. Intervals are
percentile intervals of a bootstrap that resamples the trials of each environment by themselves (stratified,
Agarwal et al. 2021, section 4.1), and those of all agents there together.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from bandit_envs.basics.types import Floats
from gpbandits.evaluation.statistics.interval import Interval, check_pairs, checked, tails

RESAMPLES = 2000  # as Agarwal et al. (2021)


def normalised_scores(losses: Mapping[str, Floats], reference: str) -> dict[str, Floats]:
    """1 - loss / mean loss of the reference, (B,) each: 1 without loss, 0 as the reference, without a floor.

    Args:
        losses: of the agents in the trials of one environment, (B,) each.
        reference: the label of the agent that scores 0 in the mean, such as that of a random one.
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
    """Share of trials that score above each threshold, environments weighing alike, (B,) each -> (T,).

    The run-score distribution of Agarwal et al. (2021), section 4.2, with a pointwise band.
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
    """Share of trials with less loss than the baseline, ties half, environments weighing alike -> ().

    The average probability of improvement of Agarwal et al. (2021), section 4.3, here between runs on the
    same trials.

    Args:
        pairs: losses of an agent and of the baseline on the same trials, (B,) each, an environment each.
        level: of the interval.
        seed: of the resamples.
        resamples: their number.
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
    """A statistic of samples (B, ...), one an environment, and its percentile interval.

    The statistic reduces the first axis of every sample and keeps a second one, of the resamples.
    """
    if not samples:
        raise ValueError("statistics across environments need at least one environment, got none")
    estimate = statistic([sample[:, None] for sample in samples])[0]
    if all(len(sample) == 1 for sample in samples):  # nothing to resample
        return Interval(estimate, np.full_like(estimate, np.nan), np.full_like(estimate, np.nan))
    rng = np.random.default_rng(seed)
    # One environment after the other: an agent that skips one keeps its resamples of those before.
    drawn = [array[rng.integers(len(array), size=(len(array), resamples))] for array in samples]
    low, high = np.quantile(statistic(drawn), tails(level), axis=0)
    return Interval(estimate, low, high)
