"""When the reward and constraint functions change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from bandit_envs.laws.parse import require
from bandit_envs.types import Ints


class Changes(Protocol):
    """The law of the change-points."""

    def draw(self, horizon: int, rng: np.random.Generator) -> Ints:
        """Index of the stationary segment of each round, (T,), starting at 0."""
        ...


@dataclass(frozen=True)
class Stationary:
    """One segment."""

    def draw(self, horizon: int, rng: np.random.Generator) -> Ints:
        """Zeros, (T,)."""
        return np.zeros(horizon, dtype=np.int64)


@dataclass(frozen=True)
class AtRounds:
    """A new function from each given round on (round 0 is the first)."""

    rounds: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        rounds = tuple(self.rounds)
        ascending = all(a < b for a, b in zip((0, *rounds), rounds, strict=False))
        require(ascending, "change_points", "ascending rounds above 0", rounds)
        object.__setattr__(self, "rounds", rounds)

    def draw(self, horizon: int, rng: np.random.Generator) -> Ints:
        """The number of change-points up to each round, (T,)."""
        return np.searchsorted(np.array(self.rounds, dtype=np.int64), np.arange(horizon), side="right")


LAWS: dict[str, type] = {"stationary": Stationary, "at": AtRounds}
