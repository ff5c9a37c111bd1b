"""A constant width."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bandit_envs.basics.arguments import require_not_negative
from bandit_envs.basics.types import Floats, Ints

from ..validation import PerTrial


@dataclass(frozen=True)
class FixedWidth:
    """A constant width w, for which nothing is proved."""

    value: PerTrial = 1.0  # or (B,)

    def __post_init__(self) -> None:
        require_not_negative("value", self.value, "it multiplies a standard deviation")

    def __call__(self, t: Ints, gain: Floats) -> Floats:
        """Return the value for each trial, (B,)."""
        return np.full(t.shape, self.value, dtype=np.float64)
