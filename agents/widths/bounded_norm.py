"""The parameters that all bands for functions of bounded norm share."""

from __future__ import annotations

from dataclasses import dataclass

from bandit_envs.basics.arguments import require_not_negative, require_positive

from ..validation import PerTrial
from .base import BOUND_REMEDY, MODEL_REMEDY, NOISE_REMEDY


@dataclass(frozen=True)
class BoundedNorm:
    """Bound on the function's RKHS norm, its noise, and the noise variance of the model.

    Args:
        bound: B, at least the RKHS norm of f.
        noise_std: R: the noise is R-sub-Gaussian.
        noise_variance: lambda.
    """

    bound: PerTrial
    noise_std: PerTrial
    noise_variance: PerTrial

    def __post_init__(self) -> None:
        require_not_negative("bound", self.bound, BOUND_REMEDY)
        require_not_negative("noise_std", self.noise_std, NOISE_REMEDY)
        require_positive("noise_variance", self.noise_variance, MODEL_REMEDY)
