"""The growth of regret is estimated by the slope on logarithmic axes."""

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
    r"""Return the exponent b of mean regret ~ t^b over a window, with its percentile bootstrap interval.

    It is the least-squares slope of log mean_i R_i(t) on log t, each round weighted by its share of the
    logarithmic axis (trapezoidal rule), so that the spacing of rounds does not matter.

    Args:
        curves: regret, positive in the mean, (B, T).
        rounds: t of each column, (T,).
        window: first and last t that count; report it with the slope.
        level: level of the interval, which is NaN for one trial.
        seed: seed of the resamples.
        resamples: number of resamples.
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
    """Return the vector whose product with log R is the weighted least-squares slope, (T,)."""
    x = np.log(rounds)
    gap = np.diff(x, prepend=x[0], append=x[-1])
    weight = (gap[:-1] + gap[1:]) / 2
    centred = x - np.average(x, weights=weight)
    return weight * centred / (weight @ centred**2)
