"""What a confidence width is: the multiplier of the posterior standard deviation."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from bandit_envs.basics.types import Floats, Ints

BOUND_REMEDY = "it bounds the RKHS norm of the mean reward"
NOISE_REMEDY = "it bounds the sub-Gaussian noise"
MODEL_REMEDY = "it is the noise variance lambda that the model assumes"


@runtime_checkable
class Width(Protocol):
    """Says how many standard deviations the confidence band reaches from the mean."""

    def __call__(self, t: Ints, gain: Floats) -> Floats:
        """Return w_t of round t = 1, 2, ... given the gain g_{t-1} before it, (B,) each -> (B,)."""
        ...
