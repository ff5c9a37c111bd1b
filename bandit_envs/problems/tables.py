"""Problems whose reward is one recorded table over (context, arm) pairs."""

from __future__ import annotations

from typing import Any

from sklearn.gaussian_process.kernels import ConstantKernel, Kernel

from bandit_envs.basics.arguments import is_number, require
from bandit_envs.basics.types import Floats
from bandit_envs.laws.functions import Recorded
from bandit_envs.problem.decisions import Decisions
from bandit_envs.problem.problem import Problem
from bandit_envs.problems.features import compose


def from_table(
    table: Floats,
    decisions: Decisions,
    kernel: Kernel,
    *,
    signal_variance: float | None,
    prior_mean: bool,
    **features: Any,
) -> Problem:
    """A problem of known values.

    Args:
        table: mean reward of each arm in each context, (Z, A).
        decisions: those contexts and arms.
        kernel: of the model, of unit variance.
        signal_variance: prior variance; default the variance of the table.
        prior_mean: publish the mean of the table as the model's prior mean.
        **features: see `bandit_envs.problems.features.compose`.
    """
    amplitude = float(table.var()) if signal_variance is None else signal_variance
    require(is_number(amplitude) and amplitude > 0, "signal_variance", "None or positive", signal_variance)
    return compose(
        decisions,
        Recorded(table.reshape(1, -1)),
        ConstantKernel(amplitude) * kernel,
        prior_mean=float(table.mean()) if prior_mean else 0.0,
        **features,
    )
