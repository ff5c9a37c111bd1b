"""Costs that are the same wherever one plays."""

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
    """k = `value` at every play."""

    value: ClassVar[float]
    is_fixed: ClassVar[bool] = True

    @property
    def least(self) -> float:
        """The value."""
        return self.value

    @property
    def most(self) -> float:
        """The value."""
        return self.value

    @property
    def prior(self) -> tuple[float, float]:
        """The value, without a doubt."""
        return self.value, 0.0

    def draw(self, gram: Gram, rng: np.random.Generator) -> Drawn:
        """The value at every point."""
        return Drawn(np.full(gram.size, self.value), between=_Constant(self.value))


@dataclass(frozen=True)
class Free(ConstantCosts):
    """Plays cost nothing."""

    budget: float = math.inf

    value: ClassVar[float] = 0.0
    is_free: ClassVar[bool] = True


@dataclass(frozen=True)
class UnitCosts(ConstantCosts):
    """k = 1: a budget of B plays."""

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
