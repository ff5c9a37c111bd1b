"""When the reward and constraint functions change."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from bandit_envs.laws.parse import is_count, require
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
        rounds = tuple(self.rounds) if isinstance(self.rounds, Iterable) else self.rounds
        require(_ascend(rounds), "change_points", "ascending rounds above 0", rounds)
        object.__setattr__(self, "rounds", rounds)

    def draw(self, horizon: int, rng: np.random.Generator) -> Ints:
        """The number of change-points up to each round, (T,)."""
        return np.searchsorted(np.array(self.rounds, dtype=np.int64), np.arange(horizon), side="right")


LAWS: dict[str, type] = {"stationary": Stationary, "at": AtRounds}


def _ascend(rounds: Any) -> bool:
    counts = isinstance(rounds, tuple) and all(is_count(round_) for round_ in rounds)
    return counts and all(a < b for a, b in pairwise(rounds))
