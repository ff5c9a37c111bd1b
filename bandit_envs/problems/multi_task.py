"""Define tuning of support vector machines on a sequence of tasks (Verma et al. 2022, Section 6.3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bandit_envs.kernels.kernels import LengthScale, make_kernel
from bandit_envs.problem.decisions import Decisions
from bandit_envs.problem.problem import Problem
from bandit_envs.problems.contextual import ContextKernel
from bandit_envs.problems.features import with_defaults
from bandit_envs.problems.tables import from_table

FEATURES = 6  # of a task, the first of its 22


def multi_task_svm(
    *,
    kernel: Any = "matern52",
    length_scale: LengthScale = 0.5,
    context_kernel: Mapping[str, Any] | None = None,
    continuous: bool = False,
    **features: Any,
) -> Problem:
    """Tune SVMs on 50 tasks x 288 configurations, three rounds late (Verma et al. 2022, Figure 4a and b).

    The tables of Wistuba et al. (2016). Action: `Discrete(288)`, a configuration of kernel, C, gamma and
    degree. Observation: the six first meta-features of the round's task, and its number / 49: two pairs of
    tasks have the same features but different accuracies, and the seventh entry distinguishes them. The
    model ignores it: its kernel is on the six features and the configuration, as in the paper. Reward: the
    sum of delivered rewards, accuracy + noise of std 0.01 (our reading; the tables have none); each task for
    30 rounds, in byte order of their names; Poisson delays of mean 3; 1500 rounds. Info: as everywhere, see
    the README. Regret: best accuracy on the round's task - that of the configuration, charged at play time.

    Args:
        kernel, length_scale: the model's over configurations; the paper states none.
        context_kernel: as for `synthetic`, over the six features.
        continuous: must be False; the tables have no values between their points.
        **features: see `bandit_envs.problems.features.compose`.

    Example:
        >>> env = gym.make("GPBandit-MultiTaskSVM-v0", horizon=300)  # needs the data, see the README
    """
    from bandit_envs.data import tst_svm

    tasks = tst_svm()
    number = np.linspace(0.0, 1.0, len(tasks.names))
    contexts = np.column_stack([tasks.features[:, :FEATURES], number])
    width, dim = contexts.shape[1], tasks.configurations.shape[1]
    over_pairs = ContextKernel.of(context_kernel).join(
        make_kernel(kernel, length_scale), range(FEATURES), range(width, width + dim)
    )
    delay = {"law": "poisson", "mean": 3}
    return from_table(
        tasks.accuracy,
        Decisions(tasks.configurations, contexts, continuous=continuous),
        over_pairs,
        **with_defaults(
            features, name="multi-task-svm", delay=delay, context="blocks", horizon=1500, noise_std=0.01
        ),
    )
