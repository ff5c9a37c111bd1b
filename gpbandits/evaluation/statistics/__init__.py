"""Statistics are over trials: a trial (one function) is the independent unit, never a round.

Values have the trial axis first, (B,) or (B, T); columns are treated separately, with the same resamples.
"""

from gpbandits.evaluation.statistics.across import (
    Rank,
    joint_tests,
    mean_improvement,
    normalised_scores,
    performance_profile,
    rank_sets,
)
from gpbandits.evaluation.statistics.interval import (
    ENOUGH,
    FEW,
    RESAMPLES,
    Interval,
    bootstrap_interval,
    interquartile_mean,
    log_log_slope,
    quantile_band,
    skew_notes,
    too_skewed,
)
from gpbandits.evaluation.statistics.pairs import (
    LEVEL,
    Comparison,
    compare,
    holm,
    ordered,
    paired_difference,
    paired_ratio,
    probability_of_improvement,
    sign_flip_test,
    significant_signs,
    wilson_interval,
)

__all__ = [
    "ENOUGH",
    "FEW",
    "LEVEL",
    "RESAMPLES",
    "Comparison",
    "Interval",
    "Rank",
    "bootstrap_interval",
    "compare",
    "holm",
    "interquartile_mean",
    "joint_tests",
    "log_log_slope",
    "mean_improvement",
    "normalised_scores",
    "ordered",
    "paired_difference",
    "paired_ratio",
    "performance_profile",
    "probability_of_improvement",
    "quantile_band",
    "rank_sets",
    "sign_flip_test",
    "significant_signs",
    "skew_notes",
    "too_skewed",
    "wilson_interval",
]
