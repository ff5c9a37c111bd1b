"""Derive the prior that a problem publishes: the model's kernel, with mean and std of the law's functions."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bandit_envs.basics.arguments import is_number, require
from bandit_envs.basics.types import Floats
from bandit_envs.kernels.kernels import amplified
from bandit_envs.laws.functions import FunctionLaw, Moments

KERNELS_OWN = Moments(0.0)


class Prior(NamedTuple):
    """Hold a model's assumptions about a function before it is played."""

    kernel: Any
    mean: Floats | float


def published_prior(
    law: FunctionLaw, kernel: Any, points: Floats, signal_variance: float | None, prior_mean: bool | float
) -> Prior:
    """Return the prior of a problem; functions drawn under a kernel use the problem's kernel.

    Args:
        law: of the reward.
        kernel: a scikit-learn kernel over the points.
        points: (N, dz + d).
        signal_variance: factor of the kernel, None for the one that gives it the law's own variance.
        prior_mean: True for the law's own mean, False for 0, or a number.
    """
    valid = signal_variance is None or (is_number(signal_variance) and signal_variance > 0)
    require(valid, "signal_variance", "None or positive", signal_variance)
    known = isinstance(prior_mean, bool) or is_number(prior_mean)
    require(known, "prior_mean", "True, False or a number", prior_mean)
    own = law.moments or KERNELS_OWN
    factor = _own_factor(kernel, points, own.deviation) if signal_variance is None else signal_variance
    mean = (own.mean if prior_mean else 0.0) if isinstance(prior_mean, bool) else prior_mean
    return Prior(amplified(kernel, factor), mean)


def _own_factor(kernel: Any, points: Floats, std: float | None) -> float:
    if std is None:
        return 1.0
    return std**2 / (float(np.mean(kernel.diag(points))) or 1.0)
