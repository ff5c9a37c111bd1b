"""The width of GP-UCB for draws of the prior on finitely many points."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import pi
from typing import Any

import numpy as np

from bandit_envs.basics.arguments import require_at_least_one, require_positive, require_probability
from bandit_envs.basics.types import Floats

from ..validation import PerTrial
from .elementwise import elementwise, log, sqrt


@dataclass(frozen=True)
class FiniteSetWidth:
    """sqrt(beta_t), beta_t = 2 log(|D| t^2 pi^2 / (6 delta)) (Srinivas et al. 2010, Theorem 1).

    It holds for f drawn from the prior, with lambda the true variance of Gaussian noise.

    Args:
        size: number of points |D|; with contexts, of (context, arm) pairs.
        delta: probability that the band fails to contain f at some point and round.
        scale: factor of beta_t; the paper's experiments use 1/5, which loses the guarantee.
    """

    size: int
    delta: PerTrial = 0.1
    scale: PerTrial = 1.0

    def __post_init__(self) -> None:
        require_at_least_one("size", self.size, "it is the number of points")
        require_probability("delta", self.delta)
        require_positive("scale", self.scale, "use 1 for the theorem, 1/5 for the paper's experiments")

    @elementwise
    def __call__(self, t: Any, gain: Floats) -> Any:
        """Return sqrt(scale * beta_t), (B,)."""
        return sqrt(self.scale * (self._union + 4.0 * log(t)))  # log t^2 = 2 log t

    @cached_property
    def _union(self) -> Floats | float:
        """2 log(|D| pi^2 / (6 delta)), a number or (B,)."""
        each = [2.0 * log(self.size * pi**2 / (6.0 * delta)) for delta in np.atleast_1d(self.delta).tolist()]
        return np.array(each) if np.ndim(self.delta) else each[0]
