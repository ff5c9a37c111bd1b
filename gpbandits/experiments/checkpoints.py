"""The rounds of a result that a study keeps."""

import dataclasses
from collections.abc import Callable

import numpy as np

from bandit_envs.basics.arguments import require
from bandit_envs.basics.types import Ints

SPACINGS = ("log", "every")


@dataclasses.dataclass(frozen=True)
class Checkpoints:
    """The rounds that are kept: about `per_decade` a decade of t ("log"), or each of them ("every")."""

    spacing: str = "log"
    per_decade: int = 50

    def __post_init__(self) -> None:
        if self.spacing not in SPACINGS:
            raise ValueError(f"spacing must be one of {', '.join(SPACINGS)}, got {self.spacing!r}")
        require(self.per_decade >= 1, "per_decade", "at least 1", self.per_decade)

    @property
    def of_run(self) -> Callable[[int], Ints] | None:
        """What makes the rounds of a run from its horizon; None is all of them."""
        return None if self.spacing == "every" else self.rounds

    def rounds(self, horizon: int) -> Ints:
        """Logarithmically spaced rounds, the first and the last among them, (R,)."""
        count = 1 + int(np.ceil(self.per_decade * np.log10(horizon)))
        return np.unique(np.rint(np.geomspace(1, horizon, count)).astype(np.int64))
