"""Make problems whose reward is one recorded table of accuracies over (context, arm) pairs."""

from __future__ import annotations

from typing import Any

from sklearn.gaussian_process.kernels import Kernel

from bandit_envs.basics.types import Floats
from bandit_envs.laws.functions import Moments, Recorded
from bandit_envs.problem.decisions import Decisions
from bandit_envs.problem.problem import Problem
from bandit_envs.problems.features import compose


def from_table(table: Floats, decisions: Decisions, kernel: Kernel, **features: Any) -> Problem:
    """Return a problem of known values; the published prior has their mean and variance.

    Args:
        table: accuracy of each arm in each context, (Z, A).
        decisions: those contexts and arms.
        kernel: of the model, without its amplitude.
        **features: see `bandit_envs.problems.features.compose`.
    """
    moments = Moments(float(table.mean()), float(table.std()))
    return compose(decisions, Recorded(table.reshape(1, -1), least=0.0, moments=moments), kernel, **features)
