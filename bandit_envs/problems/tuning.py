"""Tuning the hyperparameters of real learners, from tables of training runs."""

from __future__ import annotations

from typing import Any

import numpy as np

from bandit_envs.kernels.kernels import LengthScale, make_kernel
from bandit_envs.problem.decisions import Decisions
from bandit_envs.problem.problem import Problem
from bandit_envs.problems.features import with_defaults
from bandit_envs.problems.tables import from_table

TRAINED = 0.9  # accuracy of settings that learn


def logistic_tuning(
    *,
    kernel: Any = "matern52",
    length_scale: LengthScale = 0.3,
    continuous: bool = False,
    **features: Any,
) -> Problem:
    """Validation accuracy of logistic regression over batch size, step size and decay (Verma et al. 2022).

    Real training runs on scikit-learn's breast-cancer data, on a grid of batch size [32, 128], step size
    and decay [1e-6, 1], all on log scales in [0, 1]. Action: `Discrete(N)`, a setting. Observation: a
    constant 0. Reward: mean accuracy over the training seeds + noise of the deviation between seeds,
    pooled over the settings that reach 0.9 (those that barely train scatter more, around a coin's 0.5).
    Info: as everywhere, see the README. Regret: best mean accuracy - that of the setting.

    Args:
        kernel, length_scale: the model's, on the log scales.
        continuous: must be False; the table has no values between its points.
        **features: see `bandit_envs.problems.features.compose`.

    Example:
        >>> env = gym.make("GPBandit-LogisticTuning-v0", horizon=50)
    """
    from bandit_envs.data import logistic_tuning as load

    table = load()
    dim = len(table.names)
    noise_std = float(np.sqrt((table.std[table.accuracy > TRAINED] ** 2).mean()))
    return from_table(
        table.accuracy[None],
        Decisions(table.unit, low=np.zeros(dim), high=np.ones(dim), continuous=continuous),
        make_kernel(kernel, length_scale),
        **with_defaults(features, name="logistic-tuning", horizon=100, noise_std=noise_std),
    )
