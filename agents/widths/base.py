"""The interface of confidence widths: multipliers of the posterior standard deviation."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from bandit_envs.basics.types import Floats, Ints

BOUND_REMEDY = "it bounds the RKHS norm of the mean reward"
NOISE_REMEDY = "it bounds the sub-Gaussian noise"
MODEL_REMEDY = "it is the noise variance lambda that the model assumes"


@runtime_checkable
class Width(Protocol):
    """Function that gives the half-width of the confidence band in posterior stds."""

    def __call__(self, t: Ints, gain: Floats) -> Floats:
        """Return w_t of round t = 1, 2, ... given the gain g_{t-1} before the round, (B,) each -> (B,)."""
        ...
