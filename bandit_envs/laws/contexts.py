"""Which of the Z contexts is shown in each round."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from bandit_envs.basics.arguments import is_count, is_integer, require
from bandit_envs.basics.types import Ints


@runtime_checkable
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


@dataclass(frozen=True)
class Blocks:
    """Each context `length` rounds in a row, one after the other, and again (Verma et al. 2022, 6.3)."""

    length: int = 30

    def __post_init__(self) -> None:
        require(is_count(self.length), "length", "a positive integer", self.length)

    def draw(self, rounds: int, count: int, rng: np.random.Generator) -> Ints:
        """floor(t / length) mod count, (rounds,)."""
        return np.arange(rounds) // self.length % count


@dataclass(frozen=True)
class Recorded:
    """A given sequence of indices, which begins again when it ends."""

    indices: tuple[int, ...] = (0,)

    def __post_init__(self) -> None:
        listed = isinstance(self.indices, list | tuple) or np.ndim(self.indices) == 1
        valid = listed and len(self.indices) > 0
        valid = valid and all(is_integer(index) and index >= 0 for index in self.indices)
        require(valid, "indices", "a list of integers >= 0", self.indices)
        object.__setattr__(self, "indices", tuple(int(index) for index in self.indices))

    def draw(self, rounds: int, count: int, rng: np.random.Generator) -> Ints:
        """The sequence, (rounds,)."""
        require(max(self.indices) < count, 'context["indices"]', f"in 0..{count - 1}", max(self.indices))
        return np.resize(np.array(self.indices, dtype=np.int64), rounds)


@dataclass(frozen=True)
class Walk:
    """A random walk on the index: -1, 0 or +1 each round, from a uniform start.

    A step beyond either end is reflected onto that end, so that every round's context is uniform.
    """

    def draw(self, rounds: int, count: int, rng: np.random.Generator) -> Ints:
        """A free walk folded into 0..count-1, (rounds,)."""
        start, steps = rng.integers(count), rng.integers(-1, 2, size=rounds - 1)
        free = np.concatenate([[start], start + np.cumsum(steps)]) % (2 * count)
        return np.minimum(free, 2 * count - 1 - free)


LAWS: dict[str, type] = {"uniform": Uniform, "blocks": Blocks, "recorded": Recorded, "walk": Walk}
