"""Define costs that are equal for all plays."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bandit_envs.basics.arguments import require
from bandit_envs.basics.types import Floats
from bandit_envs.kernels.gram import Gram
from bandit_envs.laws.drawn import Drawn
from bandit_envs.laws.play_costs.base import PlayCosts


class ConstantCosts(PlayCosts):
    """Charge k = `value` for every play."""

    value: ClassVar[float]
    is_fixed: ClassVar[bool] = True

    @property
    def least(self) -> float:
        """Return the value."""
        return self.value

    @property
    def most(self) -> float:
        """Return the value."""
        return self.value

    @property
    def prior(self) -> tuple[float, float]:
        """Return the value, with std 0."""
        return self.value, 0.0

    def draw(self, gram: Gram, rng: np.random.Generator) -> Drawn:
        """Return the value at every point."""
        return Drawn(np.full(gram.size, self.value), between=_Constant(self.value))


@dataclass(frozen=True)
class Free(ConstantCosts):
    """Charge nothing."""

    budget: float = math.inf

    value: ClassVar[float] = 0.0
    is_free: ClassVar[bool] = True


@dataclass(frozen=True)
class UnitCosts(ConstantCosts):
    """Charge k = 1: the budget is a number of plays."""

    known: bool = True

    value: ClassVar[float] = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        require(
            self.known and not self.noise_std, "known", "True, without noise_std, for the law 'unit'", self
        )


@dataclass(frozen=True)
class _Constant:
    value: float

    def __call__(self, x: Floats) -> Floats:
        return np.full(len(x), self.value)
