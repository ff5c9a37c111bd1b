"""Statistics over trials: a trial (one function) is the independent unit, never a round.

Values have the trial axis first, (B,) or (B, T); each column is treated by itself, with the same resamples.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import trim_mean

from bandit_envs.types import Floats, Ints

RESAMPLES = 4000  # the ends of a 95 % interval then repeat to about 3 % of its half width
_COLUMNS = 256  # at once: 4000 resamples of 256 columns are 8 MB


class Interval(NamedTuple):
    """An estimate and its lower and upper end, () or (T,) each."""

    estimate: Floats
    low: Floats
    high: Floats


def bootstrap_interval(
    values: Floats, level: float = 0.95, seed: int = 0, resamples: int = RESAMPLES
) -> Interval:
    r"""Mean over trials and its BCa bootstrap interval, (B,) or (B, T) -> () or (T,).

    The ends are the quantiles Phi(z0 + (z0 + z) / (1 - a (z0 + z))), z = +-Phi^-1((1 + level) / 2), of the
    resampled means; z0 = Phi^-1(share of resampled means below the mean), and for a mean the jackknife's
    a = sum_i d_i^3 / (6 (sum_i d_i^2)^1.5), d_i = x_i - mean (Efron 1987, equations 2.3, 4.4 and 6.6; BCa
    rather than percentile because regret is skewed). One trial tells nothing about the spread: the ends
    are then NaN. Columns that hold a NaN are NaN.
    """
    values = _checked(values, level)
    if len(values) == 1:
        return Interval(values[0], np.full_like(values[0], np.nan), np.full_like(values[0], np.nan))
    counts = _resample_counts(len(values), seed, resamples)
    columns = values.reshape(len(values), -1)
    blocks = [columns[:, i : i + _COLUMNS] for i in range(0, columns.shape[1], _COLUMNS)]
    ends = np.concatenate([_bca_ends(block, counts @ block / len(values), level) for block in blocks], axis=1)
    low, high = ends.reshape(2, *values.shape[1:])
    return Interval(values.mean(axis=0), low, high)


def paired_difference(values: Floats, baseline: Floats, level: float = 0.95, seed: int = 0) -> Interval:
    """Mean of values - baseline on the same trials with its bootstrap interval, (B,) or (B, T)."""
    if np.shape(values) != np.shape(baseline):
        raise ValueError(f"pairs need equal shapes, got {np.shape(values)} and {np.shape(baseline)}")
    return bootstrap_interval(np.subtract(values, baseline), level, seed)


def quantile_band(values: Floats, low: float = 0.1, high: float = 0.9) -> Interval:
    """Median over trials and the band between two quantiles, by default 10/90: the spread of single runs."""
    return Interval(*np.quantile(values, [0.5, low, high], axis=0))


def interquartile_mean(values: Floats) -> Floats:
    """Mean of the middle half of the trials (Agarwal et al. 2021), (B,) or (B, T) -> () or (T,)."""
    return trim_mean(values, 0.25, axis=0)


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
    first and the last t that count: state it beside the slope.
    """
    inside = (rounds >= window[0]) & (rounds <= window[1])
    if inside.sum() < 2:
        raise ValueError(f"window {window} must hold at least two of the recorded rounds, got {inside.sum()}")
    curves = _checked(curves, level)[:, inside]
    counts = _resample_counts(len(curves), seed, resamples)
    means = np.vstack([curves.mean(axis=0), counts @ curves / len(curves)])  # (1 + resamples, T)
    if not (means > 0).all():
        raise ValueError(
            f"regret must be positive in the window {window} for a logarithm; choose a later one"
        )
    slopes = np.log(means) @ _slope_weights(rounds[inside])
    low, high = np.quantile(slopes[1:], [(1 - level) / 2, (1 + level) / 2])
    return Interval(slopes[0], low, high)


def _slope_weights(rounds: Ints) -> Floats:
    """The vector whose product with log R is the weighted least-squares slope, (T,)."""
    x = np.log(rounds)
    gap = np.diff(x, prepend=x[0], append=x[-1])
    weight = (gap[:-1] + gap[1:]) / 2
    centred = x - np.average(x, weights=weight)
    return weight * centred / (weight @ centred**2)


def _resample_counts(num_trials: int, seed: int, resamples: int) -> Floats:
    """How often each trial is in each resample, (resamples, B)."""
    uniform = np.full(num_trials, 1.0 / num_trials)
    return np.random.default_rng(seed).multinomial(num_trials, uniform, size=resamples).astype(np.float64)


def _bca_ends(values: Floats, resampled: Floats, level: float) -> Floats:
    """Low and high ends, (2, T), from values (B, T) and resampled means (resamples, T)."""
    mean = values.mean(axis=0)
    tolerance = 1e-12 * np.abs(values).max(axis=0)  # equal means differ in the last bit
    below = (resampled < mean - tolerance).mean(axis=0)
    above = (resampled > mean + tolerance).mean(axis=0)
    z0 = ndtri(np.clip((1 + below - above) / 2, 1e-9, 1 - 1e-9))
    deviation = values - mean
    scale = 6 * (deviation**2).sum(axis=0) ** 1.5
    acceleration = (deviation**3).sum(axis=0) / np.maximum(scale, 1e-300)  # 0 where all trials agree
    z = z0 + ndtri([[(1 - level) / 2], [(1 + level) / 2]])
    return _column_quantiles(resampled, ndtr(z0 + z / (1 - acceleration * z)))


def _column_quantiles(values: Floats, share: Floats) -> Floats:
    """Quantiles at shares (Q, T) of the columns of values (n, T), linearly interpolated, (Q, T)."""
    ordered = np.sort(values, axis=0)
    position = share * (len(values) - 1)
    lower = np.floor(np.nan_to_num(position)).astype(np.int64)
    upper = np.minimum(lower + 1, len(values) - 1)
    below, above = (np.take_along_axis(ordered, index, axis=0) for index in (lower, upper))
    return below + (position - lower) * (above - below)


def _checked(values: Floats, level: float) -> Floats:
    values = np.asarray(values, dtype=np.float64)
    if not values.ndim or not len(values):
        raise ValueError(f"statistics need at least one trial on the first axis, got shape {values.shape}")
    if not 0 < level < 1:
        raise ValueError(f"level must lie in (0, 1), got {level}")
    return values
