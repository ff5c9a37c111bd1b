"""Define tuning of hyperparameters of real learners, from tables of training runs."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from bandit_envs.basics.arguments import is_count, require, require_size, require_switch
from bandit_envs.kernels.kernels import LengthScale, make_kernel
from bandit_envs.problem.decisions import Decisions
from bandit_envs.problem.problem import Problem
from bandit_envs.problems.features import with_defaults
from bandit_envs.problems.svm import MOST_ARMS, from_table

if TYPE_CHECKING:
    from bandit_envs.data import TuningTable

TRAINED, CNN_TRAINED = 0.9, 0.8  # accuracy above which a setting counts as trained


def logistic_tuning(
    *,
    kernel: Any = "matern52",
    length_scale: LengthScale = 0.3,
    continuous: bool = False,
    **features: Any,
) -> Problem:
    """Tune logistic regression over batch size, step size and decay (Verma et al. 2022).

    Real training runs on scikit-learn's breast-cancer data, on a grid of batch size [32, 128], step size
    and decay [1e-6, 1], all on log scales in [0, 1]. Action: `Discrete(N)`, a setting. Observation: a
    constant 0. Reward: mean validation accuracy over the training seeds + noise of the std between seeds,
    pooled over the settings that reach 0.9 (those that barely train scatter more, around 0.5).
    Info: see docs/environments.md. Regret: best mean accuracy - that of the setting.

    Args:
        kernel, length_scale: the model's, on the log scales.
        continuous: must be False; the table has no values between its points.
        **features: see `bandit_envs.problems.features.compose`.

    Example:
        >>> env = gym.make("GPBandit-LogisticTuning-v0", horizon=50)
    """
    from bandit_envs.data import logistic_tuning as load

    defaults = {"name": "logistic-tuning", "horizon": 100}
    return _tuning(load(), TRAINED, make_kernel(kernel, length_scale), continuous, features, defaults)


def cnn_tuning(
    *,
    shape: Sequence[int] = (4, 13, 9),
    replicates: int = 8,
    train: bool = False,
    kernel: Any = "matern52",
    length_scale: LengthScale = 0.3,
    continuous: bool = False,
    **features: Any,
) -> Problem:
    """Tune a small convolutional network, with results ten rounds late (Verma et al. 2022, Fig. 2e-h).

    Real training runs on the digits that scikit-learn ships (the paper's data are MNIST), see
    `bandit_envs.data.cnn_training`, on a grid of batch size [128, 512], step size and decay [1e-6, 1], all on
    log scales in [0, 1] (our reading). Action: `Discrete(N)`, a setting; N = 468. Observation: a constant 0.
    Reward: the sum of delivered rewards, mean accuracy over the training seeds + noise of the std between
    seeds, pooled over the settings that reach 0.8; settings that learn nothing are tied at chance, 0.1.
    Poisson delays of mean 10; 100 rounds. Info: see docs/environments.md. Regret: best mean accuracy -
    that of the setting, charged at play time.

    Args:
        shape: values of batch size, step size and decay; others than (4, 13, 9) need `train`.
        replicates: training seeds of each setting; others than 8 need `train`.
        train: train now instead, a tenth of a second a run, once a process; needs torch, of the extra `rl`.
        kernel, length_scale: the model's, on the log scales.
        continuous: must be False; the table has no values between its points.
        **features: see `bandit_envs.problems.features.compose`.

    Example:
        >>> env = gym.make("GPBandit-CNNTuning-v0", delay={"law": "constant", "rounds": 10})
    """
    from bandit_envs.data.cnn_training import REPLICATES, SHIPPED, train_cnn
    from bandit_envs.data.tables import cnn_tuning as load

    valid = isinstance(shape, list | tuple) and len(shape) == 3 and all(is_count(n) and n > 1 for n in shape)
    expected = f"three integers from 2 on with a product of at most {MOST_ARMS}"
    require(valid and prod(shape) <= MOST_ARMS, "shape", expected, shape)
    require_size("replicates", replicates, prod(shape))
    require_switch("train", train)
    shipped = (*shape, replicates) == (*SHIPPED, REPLICATES)
    require(train or shipped, "train", f"True unless shape is {SHIPPED} and replicates {REPLICATES}", train)
    table = train_cnn(tuple(shape), replicates) if train else load()
    defaults = {"name": "cnn-tuning", "horizon": 100, "delay": {"law": "poisson", "mean": 10}}
    return _tuning(table, CNN_TRAINED, make_kernel(kernel, length_scale), continuous, features, defaults)


def _tuning(
    table: TuningTable,
    trained: float,
    kernel: Any,
    continuous: bool,
    features: dict[str, Any],
    defaults: dict[str, Any],
) -> Problem:
    dim = len(table.names)
    learnt = table.std[table.accuracy > trained]
    noise_std = float(np.sqrt((learnt**2).mean())) if len(learnt) else 0.0
    return from_table(
        table.accuracy[None],
        Decisions(table.unit, low=np.zeros(dim), high=np.ones(dim), continuous=continuous),
        kernel,
        **with_defaults(features, noise_std=noise_std, **defaults),
    )
