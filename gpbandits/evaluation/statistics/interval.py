"""What every statistic shares: the interval that it returns, the resamples that it rests on, its checks."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from bandit_envs.basics.types import Floats

ENOUGH = 20  # trials
FEW = (
    f"Of fewer than {ENOUGH} trials such intervals are too narrow: of normal values those of 2, 3, 5 and 10 "
    "trials hold the mean in 50, 72, 83 and 89 % of cases."
)
RESAMPLES = 4000  # the ends of a 95 % interval then repeat to about 3 % of its half width


class Interval(NamedTuple):
    """An estimate and its lower and upper end, () or (T,) each."""

    estimate: Floats
    low: Floats
    high: Floats


@lru_cache(maxsize=2)  # a report asks for the same ones hundreds of times; drawing them took most of its time
def resample_counts(num_trials: int, seed: int, resamples: int) -> Floats:
    """How often each trial is in each resample, (resamples, B), read-only."""
    uniform = np.full(num_trials, 1.0 / num_trials)
    counts = np.random.default_rng(seed).multinomial(num_trials, uniform, size=resamples)
    counts = counts.astype(np.float64)
    counts.flags.writeable = False
    return counts


def tails(level: float) -> Floats:
    """The two shares between which an interval of that level lies, (2,)."""
    check_level(level)
    return np.array([(1 - level) / 2, (1 + level) / 2])


def checked(values: Floats) -> Floats:
    """The values as float64 with at least one trial."""
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
