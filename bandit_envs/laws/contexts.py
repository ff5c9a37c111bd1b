"""Which of the Z contexts is shown in each round."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from bandit_envs.types import Ints


class Context(Protocol):
    """The law of the context sequence."""

    def draw(self, rounds: int, count: int, rng: np.random.Generator) -> Ints:
        """Index of the context of each round, (rounds,) in 0..count-1."""
        ...


@dataclass(frozen=True)
class Uniform:
    """Independent, uniform over the contexts; with one context it is the absence of contexts."""

    def draw(self, rounds: int, count: int, rng: np.random.Generator) -> Ints:
        """Uniform indices, (rounds,)."""
        return rng.integers(count, size=rounds)


LAWS: dict[str, type] = {"uniform": Uniform}
