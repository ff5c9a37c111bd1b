"""The width of the experiments with time-varying bandits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bandit_envs.basics.arguments import require_at_least_one, require_positive
from bandit_envs.basics.types import Floats, Ints

from ..validation import PerTrial


@dataclass(frozen=True)
class LogarithmicWidth:
    """sqrt(beta_t), beta_t = scale log(factor t) (Bogunovic et al. 2016, section 5: 0.8 log(4 t))."""

    scale: PerTrial = 0.8
    factor: PerTrial = 4.0

    def __post_init__(self) -> None:
        require_positive("scale", self.scale, "the paper uses 0.8")
        require_at_least_one("factor", self.factor, "the paper uses 4")

    def __call__(self, t: Ints, gain: Floats) -> Floats:
        """Return sqrt(beta_t), (B,)."""
        return np.sqrt(self.scale * np.log(self.factor * t))
