"""The width of GP-UCB-SDF and GP-TS-SDF under delayed feedback."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bandit_envs.basics.arguments import require_at_least_one, require_not_negative, require_probability
from bandit_envs.basics.types import Floats, Ints

from ..validation import PerTrial
from .base import BOUND_REMEDY, NOISE_REMEDY
from .information_gain import Gamma, Realised


@dataclass(frozen=True)
class DelayedWidth:
    """B_f + (R + B_y) sqrt(2 (gamma_{t-1} + 1 + log(union / delta))) (Verma et al. 2022, Theorems 1 and 3).

    It holds for lambda > s^2 together with the bias of `Censored`, for rho_m f, not for f; s is the largest
    prior std, which the paper takes as 1.

    Args:
        bound: B_f, at least the RKHS norm of the shifted f.
        noise_std: R / s, the noise is R-sub-Gaussian.
        reward_bound: B_y / s, where B_y bounds the shifted |y|.
        union: 2 with UCB, 4 with Thompson sampling.
    """

    bound: PerTrial
    noise_std: PerTrial
    reward_bound: PerTrial = 1.0
    gamma: Gamma = Realised()
    delta: PerTrial = 0.1
    union: int = 2

    def __post_init__(self) -> None:
        require_not_negative("bound", self.bound, BOUND_REMEDY)
        require_not_negative("noise_std", self.noise_std, NOISE_REMEDY)
        require_not_negative("reward_bound", self.reward_bound, "it bounds the shifted rewards")
        require_probability("delta", self.delta)
        require_at_least_one("union", self.union, "use 2 for UCB and 4 for Thompson sampling")

    def __call__(self, t: Ints, gain: Floats) -> Floats:
        gamma = self.gamma(t - 1, gain)
        spread = np.sqrt(2.0 * (gamma + (1.0 + np.log(self.union / self.delta))))
        return np.asarray(self.bound + (self.noise_std + self.reward_bound) * spread, dtype=np.float64)
