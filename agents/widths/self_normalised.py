"""The width for functions of bounded norm that holds for every lambda."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bandit_envs.basics.arguments import require_probability
from bandit_envs.basics.types import Floats, Ints

from ..validation import PerTrial
from .bounded_norm import BoundedNorm
from .information_gain import Gamma, Realised


@dataclass(frozen=True)
class SelfNormalisedWidth(BoundedNorm):
    """B + R / sqrt(lambda) * sqrt(2 (g_{t-1} + log(1 / delta))) (after Abbasi-Yadkori 2011).

    It holds for every lambda > 0 and R-sub-Gaussian noise, with the realised gain or any upper bound on it.
    """

    gamma: Gamma = Realised()
    delta: PerTrial = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        require_probability("delta", self.delta)

    def __call__(self, t: Ints, gain: Floats) -> Floats:
        """Return the width, (B,)."""
        ratio = self.noise_std / np.sqrt(self.noise_variance)
        gamma = self.gamma(t - 1, gain)
        return self.bound + ratio * np.sqrt(2.0 * (gamma + np.log(1.0 / self.delta)))
