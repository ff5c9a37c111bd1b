"""The exponent at which regret grows."""

import numpy as np

from bandit_envs.basics.types import Floats, Ints
from gpbandits.evaluation.statistics.interval import RESAMPLES, Interval, checked, resample_counts, tails


def log_log_slope(
    curves: Floats,
    rounds: Ints,
    window: tuple[int, int],
    level: float = 0.95,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Interval:
    r"""Exponent b of mean regret ~ t^b over first <= t <= last, with its percentile bootstrap interval.

    Least squares of log mean_i R_i(t) on log t, each round weighted by its share of the logarithmic axis
    (trapezoidal rule): equal stretches count equally, however the rounds are spaced.

    The curves, (B, T), are positive in the mean; `rounds` has the t of each column, (T,); `window` is the
    first and the last t that count: state it beside the slope. One trial has no interval.
    """
    rounds = np.asarray(rounds)
    if window[0] < 1:
        raise ValueError(f"window must begin at round 1 or later, for a logarithm, got {window}")
    inside = (rounds >= window[0]) & (rounds <= window[1])
    if inside.sum() < 2:
        raise ValueError(f"window {window} must hold at least two of the recorded rounds, got {inside.sum()}")
    curves = checked(curves)[:, inside]
    counts = resample_counts(len(curves), seed, resamples)
    means = np.vstack([curves.mean(axis=0), counts @ curves / len(curves)])  # (1 + resamples, T)
    if not (means > 0).all():
        raise ValueError(
            f"regret must be positive in the window {window} for a logarithm; choose a later one"
        )
    slopes = np.log(means) @ _slope_weights(rounds[inside])
    ends = np.quantile(slopes[1:], tails(level)) if len(curves) > 1 else np.full(2, np.nan)
    return Interval(slopes[0], *ends)


def _slope_weights(rounds: Ints) -> Floats:
    """The vector whose product with log R is the weighted least-squares slope, (T,)."""
    x = np.log(rounds)
    gap = np.diff(x, prepend=x[0], append=x[-1])
    weight = (gap[:-1] + gap[1:]) / 2
    centred = x - np.average(x, weights=weight)
    return weight * centred / (weight @ centred**2)
