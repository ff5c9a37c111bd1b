"""BCa bootstrap intervals are computed for smooth functions of means over trials."""

from collections.abc import Callable

import numpy as np
from scipy.special import ndtr, ndtri

from bandit_envs.basics.types import Floats
from gpbandits.evaluation.statistics.interval import (
    RESAMPLES,
    Interval,
    check_level,
    checked,
    resample_counts,
    tails,
)

_COLUMNS = 256  # columns at once: 4000 resamples of 256 columns are 8 MB


def bootstrap_interval(
    values: Floats, level: float = 0.95, seed: int = 0, resamples: int = RESAMPLES
) -> Interval:
    """Return the mean over trials and its BCa bootstrap interval, (B,) or (B, T) -> () or (T,).

    With one trial the ends are NaN. Columns with a value that is not finite are NaN.
    """
    return interval_of(lambda means: means, (values,), level, seed, resamples)


def interval_of(
    function: Callable[..., Floats],
    samples: tuple[Floats, ...],
    level: float = 0.95,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Interval:
    r"""Return a function of the means of paired samples and its BCa interval, (B,) or (B, T) -> () or (T,).

    The ends are the quantiles Phi(z0 + (z0 + z) / (1 - a (z0 + z))), z = +-Phi^-1((1 + level) / 2), of the
    resampled statistic; z0 = Phi^-1(share of resampled values below the estimate) and, from the values s_i
    that leave trial i out and their mean s, a = sum_i d_i^3 / (6 (sum_i d_i^2)^1.5), d_i = s - s_i (Efron
    1987, equations 2.3, 4.4 and 6.6; BCa rather than percentile because regret is skewed).

    Args:
        function: function of one array of means a sample, (..., T) each.
        samples: samples of the same trials, which are resampled together.
        level: level of the interval.
        seed: seed of the resamples.
        resamples: number of resamples.
    """
    check_level(level)
    arrays = [np.where(np.isfinite(values), values, np.nan) for values in map(checked, samples)]
    num_trials, *shape = arrays[0].shape
    columns = [array.reshape(num_trials, -1) for array in arrays]
    estimate = function(*(array.mean(axis=0) for array in arrays))
    if num_trials == 1:
        return Interval(estimate, np.full_like(estimate, np.nan), np.full_like(estimate, np.nan))
    counts = resample_counts(num_trials, seed, resamples)
    starts = range(0, columns[0].shape[1], _COLUMNS)
    blocks = [[array[:, i : i + _COLUMNS] for array in columns] for i in starts]
    ends = np.concatenate([_ends(function, block, counts, level) for block in blocks], axis=1)
    low, high = ends.reshape(2, *shape)
    return Interval(estimate, low, high)


def _ends(function: Callable[..., Floats], samples: list[Floats], counts: Floats, level: float) -> Floats:
    """Return the low and high ends, (2, T), of paired samples (B, T)."""
    num_trials = len(samples[0])
    estimate = function(*(sample.mean(axis=0) for sample in samples))
    resampled = function(*(counts @ sample / num_trials for sample in samples))
    without = function(*((sample.sum(axis=0) - sample) / (num_trials - 1) for sample in samples))
    return _bca_ends(estimate, resampled, without, level)


def _bca_ends(estimate: Floats, resampled: Floats, without: Floats, level: float) -> Floats:
    """Return the ends, (2, T), from the estimate (T,), its resamples (R, T) and its jackknife (B, T)."""
    tolerance = 1e-12 * np.abs(resampled).max(axis=0)  # equal values differ in the last bit
    below = (resampled < estimate - tolerance).mean(axis=0)
    above = (resampled > estimate + tolerance).mean(axis=0)
    z0 = ndtri(np.clip((1 + below - above) / 2, 1e-9, 1 - 1e-9))
    influence = without.mean(axis=0) - without  # d_i
    scale = 6 * (influence**2).sum(axis=0) ** 1.5
    acceleration = (influence**3).sum(axis=0) / np.maximum(scale, 1e-300)  # 0 where all trials agree
    z = z0 + ndtri(tails(level))[:, None]
    ends = _column_quantiles(resampled, ndtr(z0 + z / (1 - acceleration * z)))
    return np.where(np.isnan(resampled).any(axis=0), np.nan, ends)


def _column_quantiles(values: Floats, share: Floats) -> Floats:
    """Return quantiles at shares (Q, T) of the columns of values (n, T), linearly interpolated, (Q, T)."""
    ordered = np.sort(values, axis=0)
    position = share * (len(values) - 1)
    lower = np.floor(np.nan_to_num(position)).astype(np.int64)
    upper = np.minimum(lower + 1, len(values) - 1)
    below, above = (np.take_along_axis(ordered, index, axis=0) for index in (lower, upper))
    return below + (position - lower) * (above - below)
