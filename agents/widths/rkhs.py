"""The width of GP-UCB for functions of bounded norm."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bandit_envs.basics.arguments import require_not_negative, require_probability
from bandit_envs.basics.types import Floats, Ints

from ..validation import PerTrial
from .base import BOUND_REMEDY
from .information_gain import Gamma


@dataclass(frozen=True)
class RKHSWidth:
    """sqrt(beta_t), beta_t = 2 B^2 + 300 gamma_t log^3(t / delta) (Srinivas et al. 2010, Theorem 3).

    It holds for noise bounded by sqrt(lambda) and `gamma` an upper bound, which the realised gain is not.

    Args:
        bound: B, at least the RKHS norm of f.
        gamma: the information gain gamma_t.
        delta: probability that the band fails.
        lag: 1 for gamma_{t-1} instead, as Chowdhury & Gopalan (2017) quote the width.
    """

    bound: PerTrial
    gamma: Gamma
    delta: PerTrial = 0.1
    lag: int = 0

    def __post_init__(self) -> None:
        require_not_negative("bound", self.bound, BOUND_REMEDY)
        require_probability("delta", self.delta)
        require_not_negative("lag", self.lag, "use 0 for gamma_t and 1 for gamma_{t-1}")

    def __call__(self, t: Ints, gain: Floats) -> Floats:
        """Return sqrt(beta_t), (B,)."""
        gamma = self.gamma(t - self.lag, gain)
        return np.sqrt(2.0 * np.square(self.bound) + 300.0 * gamma * np.log(t / self.delta) ** 3)
