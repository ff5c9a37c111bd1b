"""The fit of regularisations to a trial's plays, and their posteriors."""

from __future__ import annotations

from typing import NamedTuple

from bandit_envs.basics.types import Floats


class Fit(NamedTuple):
    """Fit of a trial's plays y under a regularisation a, (B,) each."""

    noise: Floats  # a
    misfit: Floats  # q_a - q_lambda, q_a = a y' (K + a I)^-1 y


class Ridge(NamedTuple):
    """Posterior of the plays under one regularisation."""

    fit: Fit
    mean: Floats  # (B, A) posterior mean under noise variance a
    std: Floats  # (B, A)
