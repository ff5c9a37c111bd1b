"""All statistics share the type of an interval, the resamples and the checks of this module."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from bandit_envs.basics.types import Floats

ENOUGH = 20  # trials
FEW = (
    f"With fewer than {ENOUGH} trials such intervals are too narrow: for normal values those of 2, 3, 5 and "
    "10 trials contain the mean in 50, 72, 83 and 89 % of cases."
)
RESAMPLES = 4000  # another seed moves the ends of a 95 % interval by about 3 % of its half width


class Interval(NamedTuple):
    """An interval has an estimate and its lower and upper end, () or (T,) each."""

    estimate: Floats
    low: Floats
    high: Floats


@lru_cache(maxsize=2)  # a report uses the same ones hundreds of times; drawing them took most of its time
def resample_counts(num_trials: int, seed: int, resamples: int) -> Floats:
    """Return how often each trial is in each resample, (resamples, B), read-only."""
    uniform = np.full(num_trials, 1.0 / num_trials)
    counts = np.random.default_rng(seed).multinomial(num_trials, uniform, size=resamples)
    counts = counts.astype(np.float64)
    counts.flags.writeable = False
    return counts


def tails(level: float) -> Floats:
    """Return the shares at the ends of an interval of this level, (2,)."""
    check_level(level)
    return np.array([(1 - level) / 2, (1 + level) / 2])


def checked(values: Floats) -> Floats:
    """Return the values as float64; raise without a trial."""
    values = np.asarray(values, dtype=np.float64)
    if not values.ndim or not len(values):
        raise ValueError(f"statistics need at least one trial on the first axis, got shape {values.shape}")
    return values


def check_level(level: float) -> None:
    """Raise unless the level is a probability."""
    if not 0 < level < 1:
        raise ValueError(f"level must lie in (0, 1), got {level}")


def check_pairs(values: Floats, baseline: Floats) -> None:
    """Raise unless the trials of two agents can be paired."""
    if np.shape(values) != np.shape(baseline):
        raise ValueError(f"pairs need equal shapes, got {np.shape(values)} and {np.shape(baseline)}")
