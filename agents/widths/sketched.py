"""Widths for standard deviations computed from a dictionary of points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bandit_envs.basics.arguments import require_at_least_one, require_probability
from bandit_envs.basics.types import Floats, Ints

from ..validation import PerTrial
from .bounded_norm import BoundedNorm


@dataclass(frozen=True)
class BKBWidth(BoundedNorm):
    """B + sqrt((R^2 / lambda) (d_eff log t + log(1 / delta))) (Calandriello et al. 2019, the authors' code).

    Args:
        delta: failure probability, provided that dictionaries are as large as the theorem requires.
    """

    delta: PerTrial = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        require_probability("delta", self.delta)

    def __call__(self, t: Ints, gain: Floats) -> Floats:
        """Return the width from the effective dimension d_eff in the place of the gain, (B,)."""
        nats = gain * np.log(t) + np.log(1.0 / self.delta)
        return _around(self, nats)


@dataclass(frozen=True)
class BBKBWidth(BoundedNorm):
    """B + sqrt((R^2 / lambda) (C logdet + log(1 / delta))) (Calandriello et al. 2020, the authors' code).

    Args:
        growth: C, the factor by which variances may be off within a batch.
        delta: failure probability, provided that dictionaries are as large as the theorem requires.
    """

    growth: float = 2.0
    delta: PerTrial = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        require_probability("delta", self.delta)
        require_at_least_one("growth", self.growth, "variances only shrink within a batch")

    def __call__(self, t: Ints, gain: Floats) -> Floats:
        """Return the width from the gain 1/2 logdet, (B,)."""
        nats = 2.0 * self.growth * gain + np.log(1.0 / self.delta)
        return _around(self, nats)


def _around(band: BoundedNorm, nats: Floats) -> Floats:
    """B + sqrt((R^2 / lambda) nats), (B,)."""
    width = band.bound + np.sqrt(np.square(band.noise_std) / band.noise_variance * nats)
    return np.asarray(width, dtype=np.float64)
