"""Draw delays that depend on the play."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bandit_envs.basics.arguments import is_number, require
from bandit_envs.basics.types import Floats
from bandit_envs.laws.by_name import parse
from bandit_envs.laws.delays import in_rounds, in_time
from bandit_envs.laws.delays.base import TAIL, Delay

BASES: dict[str, type[Delay]] = {**in_rounds.LAWS, **in_time.LAWS}


@dataclass(frozen=True)
class ByArm(Delay):
    """Multiply another law's wait by 1 + (slowest - 1) x_1, rounded as that law rounds.

    x_1 is the play's first feature, scaled to [0, 1] over the decision set: x_1 = 1 waits longest.

    Args:
        base: the other law, or its description.
        slowest: the factor at x_1 = 1, at least 1.
    """

    base: Any = "poisson"
    slowest: float = 3.0

    def __post_init__(self) -> None:
        super().__post_init__()
        require(is_number(self.slowest) and self.slowest >= 1, "slowest", "a factor >= 1", self.slowest)
        object.__setattr__(self, "base", parse("base", self.base, BASES))

    def slowdown(self, features: Floats) -> Floats:
        """Return 1 + (slowest - 1) x_1, (n, d) -> (n,)."""
        return 1.0 + (self.slowest - 1.0) * features[:, 0]

    def in_rounds(self, waits: Floats) -> Floats:
        """Round as the other law."""
        return self.base.in_rounds(waits)

    def query_times(self, horizon: int) -> Floats | None:
        """Return the other law's times."""
        return self.base.query_times(horizon)

    def quantile(self, late: float = TAIL) -> float:
        """Return the other law's quantile at the slowest arm: no arm is late more often."""
        return self.slowest * self.base.quantile(late)

    def _draw_waits(self, horizon: int, rng: np.random.Generator) -> Floats:
        return self.base.draw(horizon, rng)
