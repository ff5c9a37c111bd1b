"""The number of plays worth remembering of a function with a given total variation over a run."""

from __future__ import annotations

import numpy as np

from bandit_envs.basics.arguments import require_positive
from bandit_envs.basics.types import Floats, Ints
from bandit_envs.kernels.gram import Gram
from bandit_envs.problem.decisions import unit_grid
from bandit_envs.problem.setting import Setting

from ..model.model import Model
from ..validation import PerTrial
from ..widths.gain_tables import spectral_bound

DEFAULT_VARIATION = 1.0  # prior stds
MOST_POINTS = 256  # of the spectrum: the fourth root of gamma_T needs no more precision


def memory_length(model: Model, variation: PerTrial) -> Floats:
    """Return the length gamma_T^(1/4) sqrt(T / B_T), 2 to T rounds, () or (B,) (Zhou & Shroff 2021).

    Args:
        model: kernel, noise and horizon. gamma_T is the spectral bound on at most 256 points.
        variation: B_T, the sum of the distances between the reward functions of successive rounds, in prior
            stds.
    """
    require_positive(
        "variation", variation, "it is how much the function changes over the run, in prior stds"
    )
    horizon = model.setting.horizon
    sample = Gram(model.kernel, _sample(model.setting))
    rounds = np.full(np.shape(model.noise_variance), horizon)
    gamma = spectral_bound(sample, model.noise_variance, horizon)(
        rounds, np.zeros_like(rounds, dtype=np.float64)
    )
    length = gamma**0.25 * np.sqrt(horizon / np.asarray(variation))
    return np.clip(length, 2.0, max(horizon, 2))


def _sample(setting: Setting) -> Floats:
    """Return at most 256 of the points; of a box, 256 points that cover it."""
    points = setting.decisions.points
    if not setting.continuous:
        return points[:: -(-len(points) // MOST_POINTS)]
    low, high = points.min(axis=0), points.max(axis=0)
    return low + (high - low) * unit_grid(MOST_POINTS, len(low))


def window_of(model: Model, variation: PerTrial) -> Ints:
    """Return W = H = ceil(gamma_T^(1/4) sqrt(T / B_T)), () or (B,), a window or time between restarts."""
    return np.ceil(memory_length(model, variation)).astype(np.int64)


def discount_of(model: Model, variation: PerTrial) -> Floats:
    """Return rho = 1 - gamma_T^(-1/4) sqrt(B_T / T), () or (B,) (Deng et al. 2022)."""
    return 1.0 - 1.0 / memory_length(model, variation)


def drift_of(model: Model, variation: PerTrial) -> Floats:
    """Return eps = 2 / W, () or (B,), with which the covariance falls to 1/e over W rounds (our reading)."""
    return 2.0 / window_of(model, variation)
