"""How single trials spread, and a mean that a few of them cannot move."""

import numpy as np
from scipy.stats import trim_mean

from bandit_envs.basics.types import Floats
from gpbandits.evaluation.statistics.interval import Interval, checked


def quantile_band(values: Floats, low: float = 0.1, high: float = 0.9) -> Interval:
    """Median over trials and the band between two quantiles, by default 10/90: the spread of single runs."""
    return Interval(*np.quantile(checked(values), [0.5, low, high], axis=0))


def interquartile_mean(values: Floats) -> Floats:
    """Mean of the middle half of the trials (Agarwal et al. 2021), (B,) or (B, T) -> () or (T,)."""
    return trim_mean(checked(values), 0.25, axis=0)
