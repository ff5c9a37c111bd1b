"""The width of KernelUCB."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bandit_envs.basics.arguments import require_not_negative, require_positive
from bandit_envs.basics.types import Floats, Ints

from ..validation import PerTrial
from .base import MODEL_REMEDY


@dataclass(frozen=True)
class KernelUCBWidth:
    """eta / sqrt(lambda), the width of KernelUCB (Valko et al. 2013).

    Args:
        eta: without a unit.
        noise_variance: lambda / s^2, s the largest prior std.
    """

    eta: PerTrial
    noise_variance: PerTrial

    def __post_init__(self) -> None:
        require_not_negative("eta", self.eta, "it multiplies a standard deviation")
        require_positive("noise_variance", self.noise_variance, MODEL_REMEDY)

    def __call__(self, t: Ints, gain: Floats) -> Floats:
        """Return the width for each trial, (B,)."""
        return np.full(t.shape, self.eta / np.sqrt(self.noise_variance), dtype=np.float64)
