"""Defaults of a model: the kernel, the mean, and the least possible reward."""

from __future__ import annotations

from typing import Any

import numpy as np

from bandit_envs.basics.types import Floats
from bandit_envs.kernels.kernels import LengthScale, make_kernel
from bandit_envs.laws.functions import SELDOM_BELOW
from bandit_envs.problem.setting import Setting
from bandit_envs.problem.told import check_prior_mean

from ..kernels.amplitude import unit_kernel
from ..kernels.found import is_found
from ..kernels.shape import largest_deviation

DEFAULT_LENGTH_SCALE = 0.2  # box widths, where the setting withholds the kernel


def assumed_kernel(setting: Setting, kernel: Any, length_scale: LengthScale | None) -> Any:
    """Return the given kernel, else the setting's, else SE; named ones get the setting's amplitude."""
    if kernel is None and length_scale is None and setting.kernel is not None:
        return setting.kernel
    assert setting.low is not None
    assert setting.high is not None
    width = float(np.max(setting.high - setting.low)) or 1.0
    made = make_kernel(
        "rbf" if kernel is None else kernel,
        DEFAULT_LENGTH_SCALE * width if length_scale is None else length_scale,
    )
    if setting.kernel is None or says_unit(kernel):
        return made
    deviation = largest_deviation(setting.kernel, setting.decisions.points)
    return unit_kernel(made, 1.0 / deviation)


def says_unit(kernel: Any) -> bool:
    """Return True if a given kernel has an amplitude; a name has none."""
    return kernel is not None and not isinstance(kernel, str)


def check_mean(setting: Setting, given: Any) -> None:
    """Raise unless the mean is None, one finite number, or one per point or trial."""
    mean = np.asarray(0.0 if given is None else given)
    each_trial = mean.ndim == 2 and mean.shape[1] == 1
    for one in mean[:, 0] if each_trial else [mean]:
        check_prior_mean(one, setting.decisions)


def tells_mean(setting: Setting) -> bool:
    """Return True if the prior mean is published; not if it is 0 with a withheld or estimated kernel."""
    if is_found(setting.kernel):
        return False
    return setting.kernel is not None or bool(np.any(setting.prior_mean))


def least_reward(setting: Setting, deviation: float) -> Floats | float:
    """Return the lower bound of the reward, or the prior mean where feedback is never delayed."""
    bound = setting.reward_lower_bound
    if setting.max_delay == 0:
        return setting.prior_mean
    if bound is None:
        return float(np.min(setting.prior_mean)) - SELDOM_BELOW * deviation
    return bound[:, None] if isinstance(bound, np.ndarray) else bound
