"""Weights of plays whose noise differs from the model's.

A play of noise variance lambda_i is as informative as w = lambda / lambda_i plays of lambda whose values sum
to w y. So the posterior under diag(lambda_i) in place of lambda I is that of real-valued counts, and with
lambda_i = lambda (R_i / R)^2 every band that holds for (R, lambda) holds: the i-th value divided by R_i / R
has noise R.
"""

from __future__ import annotations

import numpy as np

from bandit_envs.basics.types import Floats, Ints
from bandit_envs.problem.setting import Setting

from .model import Model
from .noise import SMALLEST_NOISE


def profile_weights(setting: Setting) -> Floats | None:
    """Return w at each point, (N,), where the setting publishes a noise profile; else None."""
    profile = setting.noise_profile
    return None if profile is None else profile**-2.0


def told_weights(model: Model, trial: Ints, std: Floats) -> Floats:
    """Return w = (R / R_i)^2 of plays whose noise stds R_i are published, (n,) each -> (n,).

    In a model without noise R^2 is its lambda. R_i is at least the smallest noise of a model. Where it is
    NaN, not published, w = 1.
    """
    variance = np.square(np.broadcast_to(model.noise_std, trial.max(initial=0) + 1)[trial])
    assumed = np.broadcast_to(model.noise_variance, trial.max(initial=0) + 1)[trial]
    unit = np.where(variance > 0.0, variance, assumed)
    most = assumed / (SMALLEST_NOISE * model.deviation**2)
    return np.where(np.isnan(std), 1.0, np.minimum(unit / np.square(std), most))
