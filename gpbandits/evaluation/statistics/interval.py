"""Intervals of means by BCa bootstrap, the spread of trials, and the exponent at which regret grows."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import skew, trim_mean

from bandit_envs.basics.types import Floats, Ints

ENOUGH = 20  # trials
FEW = (
    f"With fewer than {ENOUGH} trials such intervals are too narrow: for normal values those of 2, 3, 5 and "
    "10 trials contain the mean in 50, 72, 83 and 89 % of cases."
)
RESAMPLES = 4000  # another seed moves the ends of a 95 % interval by about 3 % of its half width
_ROWS = 500  # resamples drawn at once
_COLUMNS = 256  # columns at once: 4000 resamples of 256 columns are 8 MB
SKEW = 0.36  # in units of sqrt(n), beyond which intervals may cover in fewer than 90 % of cases


class Interval(NamedTuple):
    """An interval has an estimate and its lower and upper end, () or (T,) each."""

    estimate: Floats
    low: Floats
    high: Floats


@lru_cache(maxsize=2)  # a report uses the same ones hundreds of times; drawing them took most of its time
def resample_counts(num_trials: int, seed: int, resamples: int) -> Floats:
    """Return how often each trial is in each resample, (resamples, B), read-only."""
    uniform = np.full(num_trials, 1.0 / num_trials)
    rng, counts = np.random.default_rng(seed), np.empty((resamples, num_trials))
    for start in range(0, resamples, _ROWS):  # integers of all would take as much memory again
        part = counts[start : start + _ROWS]
        part[:] = rng.multinomial(num_trials, uniform, size=len(part))
    counts.flags.writeable = False
    return counts


def tails(level: float) -> Floats:
    """Return the shares at the ends of an interval of this level, (2,); raise unless it is a probability."""
    if not 0 < level < 1:
        raise ValueError(f"level must lie in (0, 1), got {level}")
    return np.array([(1 - level) / 2, (1 + level) / 2])


def checked(values: Floats) -> Floats:
    """Return the values as float64; raise without a trial."""
    values = np.asarray(values, dtype=np.float64)
    if not values.ndim or not len(values):
        raise ValueError(f"statistics need at least one trial on the first axis, got shape {values.shape}")
    return values


def check_pairs(values: Floats, baseline: Floats) -> None:
    """Raise unless the trials of two agents can be paired."""
    if np.shape(values) != np.shape(baseline):
        raise ValueError(f"pairs need equal shapes, got {np.shape(values)} and {np.shape(baseline)}")


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
    1987, equations 2.3, 4.4 and 6.6; BCa rather than percentile because regret is skewed). The function is of
    one array of means a sample, (..., T) each.
    """
    shares = tails(level)
    arrays = [np.where(np.isfinite(values), values, np.nan) for values in map(checked, samples)]
    num_trials, *shape = arrays[0].shape
    columns = [array.reshape(num_trials, -1) for array in arrays]
    estimate = function(*(array.mean(axis=0) for array in arrays))
    if num_trials == 1:
        return Interval(estimate, np.full_like(estimate, np.nan), np.full_like(estimate, np.nan))
    counts = resample_counts(num_trials, seed, resamples)
    starts = range(0, columns[0].shape[1], _COLUMNS)
    blocks = [[array[:, i : i + _COLUMNS] for array in columns] for i in starts]
    ends = []
    for block in blocks:
        middle = function(*(sample.mean(axis=0) for sample in block))
        resampled = function(*(counts @ sample / num_trials for sample in block))
        without = function(*((sample.sum(axis=0) - sample) / (num_trials - 1) for sample in block))
        ends.append(_bca_ends(middle, resampled, without, shares))
    low, high = np.concatenate(ends, axis=1).reshape(2, *shape)
    return Interval(estimate, low, high)


def _bca_ends(estimate: Floats, resampled: Floats, without: Floats, shares: Floats) -> Floats:
    """Return the ends, (2, T), from the estimate (T,), its resamples (R, T) and its jackknife (B, T)."""
    tolerance = 1e-12 * np.abs(resampled).max(axis=0)  # equal values differ in the last bit
    below = (resampled < estimate - tolerance).mean(axis=0)
    above = (resampled > estimate + tolerance).mean(axis=0)
    z0 = ndtri(np.clip((1 + below - above) / 2, 1e-9, 1 - 1e-9))
    influence = without.mean(axis=0) - without  # d_i
    scale = 6 * (influence**2).sum(axis=0) ** 1.5
    acceleration = (influence**3).sum(axis=0) / np.maximum(scale, 1e-300)  # 0 where all trials agree
    z = z0 + ndtri(shares)[:, None]
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


def quantile_band(values: Floats) -> Interval:
    """Return the median over trials and the band between the 10 % and 90 % quantiles."""
    return Interval(*np.quantile(checked(values), [0.5, 0.1, 0.9], axis=0))


def interquartile_mean(values: Floats) -> Floats:
    """Return the mean of the middle half of trials (Agarwal et al. 2021), (B,) or (B, T) -> () or (T,)."""
    return trim_mean(checked(values), 0.25, axis=0)


def too_skewed(values: Floats) -> bool:
    """Return whether the sample skewness of n trials, (n,), lies beyond +-0.36 sqrt(n).

    Coverage of a bootstrap interval errs in first order by skewness / sqrt(n). Of lognormal laws of which
    the median sample is within, 95 % intervals hold the mean in 90 % of cases or more at 20 and 30 trials; of
    those of sigma 1 and 1.5 in 81 to 89 %. Symmetric heavy tails escape: of differences of two lognormal
    values of sigma 1 intervals hold the mean in 86 % at 20 trials, and most samples are within.
    """
    values = checked(values)
    spread = np.ptp(values) > 1e-12 * np.abs(values).max()
    return bool(spread and abs(skew(values)) > SKEW * np.sqrt(len(values)))


def skew_notes(finals: Mapping[str, Floats], baseline: str) -> list[str]:
    """Name the agents of which values, or differences to the baseline, are too skewed for their intervals.

    Args:
        finals: of each agent on the same trials, (n,) each; of fewer than 20 tables warn anyway.
    """
    few = len(finals[baseline]) < ENOUGH
    skewed = [x for x, y in finals.items() if too_skewed(y) or too_skewed(y - finals[baseline])]
    said = (
        f"Skewed over the trials (sample skewness beyond {SKEW} sqrt(n)), by value or difference to the "
        f"baseline: {', '.join(skewed)}. Intervals then may hold the mean in fewer than 90 % of cases: of "
        "lognormal values of sigma 1 in 87 % with 20 and 89 % with 30 trials."
    )
    return [said] if skewed and not few else []


def log_log_slope(
    curves: Floats, rounds: Ints, window: tuple[int, int], resamples: int = RESAMPLES
) -> Interval:
    r"""Return the exponent b of mean regret ~ t^b over a window, with its 95 % percentile bootstrap interval.

    It is the least-squares slope of log mean_i R_i(t) on log t, each round weighted by its share of the
    logarithmic axis (trapezoidal rule), so that the spacing of rounds does not matter. The interval is NaN
    for one trial.

    Args:
        curves: regret, positive in the mean, (B, T).
        rounds: t of each column, (T,).
        window: first and last t that count; report it with the slope.
    """
    rounds = np.asarray(rounds)
    if window[0] < 1:
        raise ValueError(f"window must begin at round 1 or later, for a logarithm, got {window}")
    inside = (rounds >= window[0]) & (rounds <= window[1])
    if inside.sum() < 2:
        raise ValueError(f"window {window} must hold at least two of the recorded rounds, got {inside.sum()}")
    curves = checked(curves)[:, inside]
    counts = resample_counts(len(curves), 0, resamples)
    means = np.vstack([curves.mean(axis=0), counts @ curves / len(curves)])  # (1 + resamples, T)
    if not (means > 0).all():
        raise ValueError(
            f"regret must be positive in the window {window} for a logarithm; choose a later one"
        )
    slopes = np.log(means) @ _slope_weights(rounds[inside])
    ends = np.quantile(slopes[1:], tails(0.95)) if len(curves) > 1 else np.full(2, np.nan)
    return Interval(slopes[0], *ends)


def _slope_weights(rounds: Ints) -> Floats:
    """Return the vector whose product with log R is the weighted least-squares slope, (T,)."""
    x = np.log(rounds)
    gap = np.diff(x, prepend=x[0], append=x[-1])
    weight = (gap[:-1] + gap[1:]) / 2
    centred = x - np.average(x, weights=weight)
    return weight * centred / (weight @ centred**2)
