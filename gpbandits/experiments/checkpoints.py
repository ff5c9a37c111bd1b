"""Checkpoints are the rounds of a result that a study records."""

import dataclasses
from collections.abc import Callable

import numpy as np

from bandit_envs.basics.arguments import require
from bandit_envs.basics.types import Ints

SPACINGS = ("log", "every")


@dataclasses.dataclass(frozen=True)
class Checkpoints:
    """Record about `per_decade` rounds in each decade of t ("log"), or all rounds ("every")."""

    spacing: str = "log"
    per_decade: int = 50

    def __post_init__(self) -> None:
        if self.spacing not in SPACINGS:
            raise ValueError(f"spacing must be one of {', '.join(SPACINGS)}, got {self.spacing!r}")
        require(self.per_decade >= 1, "per_decade", "at least 1", self.per_decade)

    @property
    def of_run(self) -> Callable[[int], Ints] | None:
        """Return the function from a horizon to the recorded rounds; None records all."""
        return None if self.spacing == "every" else self.rounds

    def rounds(self, horizon: int) -> Ints:
        """Return logarithmically spaced rounds from 1 to the horizon, (R,)."""
        count = 1 + int(np.ceil(self.per_decade * np.log10(horizon)))
        return np.unique(np.rint(np.geomspace(1, horizon, count)).astype(np.int64))
