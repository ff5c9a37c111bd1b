"""The width of GP-UCB-CPD, whose constant is tuned because no value is proved."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bandit_envs.basics.arguments import require_at_least_one, require_not_negative
from bandit_envs.basics.types import Floats, Ints

from ..validation import PerTrial

PAPER_CONSTANT = 0.02


@dataclass(frozen=True)
class ChangePointWidth:
    """sqrt(beta_t), beta_t = D t^(d(d+1) / (2a + d(d+1))) log^4 T (Avanesov 2020, equation 3.7).

    t counts the plays since the last restart, before this one; T is the horizon of the whole run.

    Args:
        horizon: T.
        dim: d.
        smoothness: a, the nu of a Matern kernel, or inf.
        constant: D; the paper's experiments take 0.02.
    """

    horizon: int
    dim: int
    smoothness: float = 2.5
    constant: PerTrial = PAPER_CONSTANT

    def __post_init__(self) -> None:
        require_at_least_one("horizon", self.horizon, "it is the number of rounds of the whole run")
        require_at_least_one("dim", self.dim, "it is the number of features of a point")
        require_not_negative("constant", self.constant, "it is the D of beta_t; the paper takes 0.02")
        if not self.smoothness > 0:
            raise ValueError(f"smoothness must be positive, got {self.smoothness}; use inf for SE kernels")

    def __call__(self, t: Ints, gain: Floats) -> Floats:
        """Return sqrt(beta_t), (B,)."""
        order = self.dim * (self.dim + 1)
        power = order / (2.0 * self.smoothness + order)
        beta = self.constant * (t - 1.0) ** power * math.log(self.horizon) ** 4
        return np.sqrt(beta)
