"""Tuning a support vector machine while results come late (Verma et al. 2022, Sections 6.2 and 6.3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bandit_envs.basics.arguments import is_count, require
from bandit_envs.basics.types import Floats
from bandit_envs.kernels.kernels import LengthScale, make_kernel
from bandit_envs.problem.decisions import Decisions
from bandit_envs.problem.problem import Problem
from bandit_envs.problems.contextual import joint_kernel
from bandit_envs.problems.features import with_defaults
from bandit_envs.problems.tables import from_table

NOISE_STD = 0.01  # our reading: the paper's accuracies have none, its model has
MAX_SIDE = 60


def svm_tuning(
    *,
    data: str = "diabetes",
    side: int = 30,
    train: bool = False,
    scale: str = "linear",
    kernel: Any = "matern52",
    length_scale: LengthScale = 0.2,
    continuous: bool = False,
    **features: Any,
) -> Problem:
    """Validation accuracy of an SVM over C and gamma, seen about ten rounds late (Verma et al. 2022, Fig. 2).

    Real training runs on a grid of (x_1, x_2) in [0, 1]^2, C = 1e-4 + x_1 (100 - 1e-4) and gamma = 1e-4 +
    x_2 (10 - 1e-4), log-spaced towards both edges, which it includes: nearly all of the square is a plateau,
    and what can be learnt lies at its edge x_2 = 0. Action: `Discrete(side^2)`, a configuration.
    Observation: a constant 0. Reward: the sum of what arrives, accuracy + noise of deviation 0.01 (our
    reading; `noise_std=0` is the table itself); Poisson delays of mean 10; 100 rounds. Info: as everywhere,
    see the README. Regret: best accuracy - that of the configuration, charged at play time.

    Args:
        data: "diabetes" (768 patients, as in the paper) or "breast-cancer" (569, bundled with scikit-learn).
        side: points an axis, up to 60; 30 ships, others need `train`, or a table by `scripts/svm_tables.py`.
        train: train now instead, a hundredth of a second a configuration, once a process; diabetes is
            downloaded for that.
        scale: features of an arm: "linear" is (x_1, x_2), as the paper's model sees them; "log" is log C
            and log gamma in [0, 1], which spreads the edge out.
        kernel, length_scale: the model's, on these features.
        continuous: must be False; the table has no values between its points.
        **features: see `bandit_envs.problems.features.compose`.

    Example:
        >>> env = gym.make("GPBandit-SVMTuning-v0", data="breast-cancer", delay={"law": "constant"})
    """
    choices = ("diabetes", "breast-cancer")
    require(data in choices, "data", '"diabetes" or "breast-cancer"', data)
    table, arms = _accuracy(data, side, train), _arms(side, scale)
    return from_table(
        table,
        Decisions(arms, low=np.zeros(2), high=np.ones(2), continuous=continuous),
        make_kernel(kernel, length_scale),
        **_with_delays(features, name="svm-tuning", mean=10, horizon=100),
    )


def growing_data_svm(
    *,
    side: int = 20,
    train: bool = False,
    scale: str = "linear",
    kernel: Any = "matern52",
    length_scale: LengthScale = 0.2,
    context_kernel: Mapping[str, Any] | None = None,
    continuous: bool = False,
    **features: Any,
) -> Problem:
    """SVM tuning on 20 growing data sets, seen about three rounds late (Verma et al. 2022, Figure 4c, d).

    The diabetes data in one random order; data set i is the first (i + 1) / 20 of the patients, split as
    for `GPBandit-SVMTuning-v0`, and its context is i / 19. Action: `Discrete(side^2)`, a configuration of C
    and gamma. Observation: the context. Reward: the sum of what arrives, accuracy + noise of deviation
    0.01 (our reading); each data set for 30 rounds, one after the other; Poisson delays of mean 3; 600
    rounds. Info: as everywhere, see the README. Regret: best accuracy on the round's data set - that of the
    configuration, charged at play time.

    Args:
        side: points an axis, up to 60; 20 ships, others need `train`, or a table by `scripts/svm_tables.py`.
        train: train now instead, 20 side^2 machines (at side=20 a minute), once a process.
        scale, kernel, length_scale: of the arms, as for `svm_tuning`.
        context_kernel: as for `synthetic`.
        continuous, **features: as for `svm_tuning`.

    Example:
        >>> env = gym.make("GPBandit-GrowingDataSVM-v0", context_kernel={"length_scale": 0.3})
    """
    table, arms = _accuracy("growing-diabetes", side, train), _arms(side, scale)
    contexts = np.linspace(0.0, 1.0, len(table))[:, None]
    return from_table(
        table,
        Decisions(arms, contexts, low=np.zeros(2), high=np.ones(2), continuous=continuous),
        joint_kernel(make_kernel(kernel, length_scale), context_kernel, contexts, 2),
        **_with_delays(features, name="growing-data-svm", mean=3, horizon=600, context="blocks"),
    )


def _accuracy(data: str, side: int, train: bool) -> Floats:
    from bandit_envs.data import svm_accuracy, train_svm

    require(is_count(side) and 2 <= side <= MAX_SIDE, "side", f"in 2..{MAX_SIDE}", side)
    require(isinstance(train, bool), "train", "True or False", train)
    return train_svm(data, side) if train else svm_accuracy(data, side)


def _arms(side: int, scale: str) -> Floats:
    from bandit_envs.data import svm_grid

    require(scale in ("linear", "log"), "scale", '"linear" or "log"', scale)
    axis = np.linspace(0.0, 1.0, side)
    log = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    return svm_grid(side) if scale == "linear" else log


def _with_delays(features: dict[str, Any], *, mean: float, **defaults: Any) -> dict[str, Any]:
    delay = {"law": "poisson", "mean": mean}
    return with_defaults(features, delay=delay, noise_std=NOISE_STD, **defaults)
