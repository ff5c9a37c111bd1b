"""The width of IGP-UCB and GP-TS for functions of bounded norm."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from bandit_envs.basics.arguments import require_at_least_one, require_not_negative, require_probability
from bandit_envs.basics.types import Floats, Ints

from ..validation import PerTrial
from .base import BOUND_REMEDY, NOISE_REMEDY
from .elementwise import elementwise, log, sqrt
from .information_gain import Gamma, Realised


@dataclass(frozen=True)
class ImprovedWidth:
    """B + R sqrt(2 (gamma_{t-1} + 1 + log(union / delta))) (Chowdhury & Gopalan 2017, Algorithms 1 and 2).

    The theorem requires lambda = 1 + 2/T; the experiments' lambda = R^2 reproduces curves, not coverage.

    Args:
        bound: B, at least the RKHS norm of f.
        noise_std: R / s: the noise is R-sub-Gaussian, and the paper takes the largest prior std s as 1.
        gamma: the information gain; the realised one is enough for the band.
        delta: probability that the regret bound fails.
        union: number of failures that share delta: 1 in IGP-UCB, 2 in GP-TS.
    """

    bound: PerTrial
    noise_std: PerTrial
    gamma: Gamma = Realised()
    delta: PerTrial = 0.1
    union: int = 1

    def __post_init__(self) -> None:
        require_not_negative("bound", self.bound, BOUND_REMEDY)
        require_not_negative("noise_std", self.noise_std, NOISE_REMEDY)
        require_probability("delta", self.delta)
        require_at_least_one("union", self.union, "use 1 for IGP-UCB and 2 for GP-TS")

    def __call__(self, t: Ints, gain: Floats) -> Floats:
        """Return the width, (B,)."""
        return self._of_gamma(self.gamma(t - 1, gain))

    @elementwise
    def _of_gamma(self, gamma: Any) -> Any:
        return self.bound + self.noise_std * sqrt(2.0 * (gamma + self._failure))

    @cached_property
    def _failure(self) -> Any:
        """1 + log(union / delta), a number or (B,)."""
        return 1.0 + log(self.union / self.delta)
