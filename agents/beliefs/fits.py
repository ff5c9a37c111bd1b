"""How well regularisations fit a trial's plays, and what they make of them."""

from __future__ import annotations

from typing import NamedTuple

from bandit_envs.basics.types import Floats


class Fit(NamedTuple):
    """How well a trial's plays y fit under a regularisation a, (B,) each."""

    noise: Floats  # a
    misfit: Floats  # q_a - q_lambda, q_a = a y' (K + a I)^-1 y


class Ridge(NamedTuple):
    """What a regularisation makes of the plays."""

    fit: Fit
    mean: Floats  # (B, A) posterior mean under noise variance a
    std: Floats  # (B, A)
