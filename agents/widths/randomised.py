"""Widths whose square is drawn anew in every round; they do not depend on t, T or delta."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bandit_envs.basics.arguments import require_at_least_one, require_positive
from bandit_envs.basics.types import Floats, Ints


@dataclass(frozen=True)
class FiniteSize:
    """log N for N arms."""

    count: int

    def __post_init__(self) -> None:
        require_at_least_one("count", self.count, "it is the number of arms")

    def __call__(self, t: Ints) -> Floats:
        return np.full(t.shape, math.log(self.count))


@dataclass(frozen=True)
class CompactSize:
    """d log(b d r t^2 (sqrt(log(a d)) + sqrt(pi) / 2)), of the grids of Takeno et al. (2023) on [0, r]^d.

    The formula is from memory, neither confirmed nor proved here; for the arguments see `CompactWidth`.
    """

    dim: int
    diameter: float
    a: float
    b: float

    def __post_init__(self) -> None:
        require_at_least_one("dim", self.dim, "it is the number of dimensions")
        require_positive("diameter", self.diameter, "it is the length of the box's longest side")
        require_at_least_one("a", self.a, "derivatives exceed 0 with probability 1; use derivative_constants")
        require_positive("b", self.b, "use derivative_constants")

    def __call__(self, t: Ints) -> Floats:
        steepness = math.sqrt(math.log(self.a * self.dim)) + math.sqrt(math.pi) / 2.0
        side = self.b * self.dim * self.diameter * steepness * np.square(t, dtype=np.float64)
        return self.dim * np.log(np.maximum(side, 1.0))


LogSize = FiniteSize | CompactSize  # log |D_t|, of the points among which round t seeks its maximiser


def squared_width(log_size: Floats, exponential: Floats) -> Floats:
    """Return zeta = 2 log(|D| / 2) + 2 E, at least 0; E is exponential of mean 1, (B,) each -> (B,).

    P(max_x Z_x > c) <= (|D| / 2) exp(-c^2 / 2) for standard normal Z_x, so the square of the largest is
    stochastically below zeta (Takeno et al. 2023, IRGP-UCB).
    """
    return np.maximum(2.0 * (log_size - math.log(2.0) + exponential), 0.0)


def mean_width(count: int) -> float:
    """Return sqrt(2 + 2 log(N / 2)), the root of the mean of zeta: a constant width without a regret bound.

    With a known arm of value 0, an unknown arm whose first values are low is never played again, at the loss
    of its mean in every round (arXiv 2409.00979 shows that expected regret can be linear).
    """
    return math.sqrt(2.0 + 2.0 * math.log(count / 2.0))
