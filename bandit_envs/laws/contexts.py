"""Draw the context of each round, one of Z."""

from dataclasses import dataclass
from typing import Annotated, Protocol, runtime_checkable

import numpy as np

from bandit_envs.basics.arguments import is_integer, require
from bandit_envs.basics.options import Checked, count
from bandit_envs.basics.types import Ints


@runtime_checkable
class Context(Protocol):
    """Draw the sequence of contexts."""

    def draw(self, rounds: int, count: int, rng: np.random.Generator) -> Ints:
        """Return the index of the context of each round, (rounds,) in 0..count-1."""
        ...


@dataclass(frozen=True)
class UniformContexts(Context):
    """Draw contexts independently and uniformly; one context is the case without contexts."""

    def draw(self, rounds: int, count: int, rng: np.random.Generator) -> Ints:
        return rng.integers(count, size=rounds) if count > 1 else np.zeros(rounds, dtype=np.int64)


@dataclass(frozen=True)
class Blocks(Checked, Context):
    """Show each context for `length` rounds in a row, in cyclic order (Verma et al. 2022, 6.3)."""

    length: Annotated[int, count()] = 30

    def draw(self, rounds: int, count: int, rng: np.random.Generator) -> Ints:
        return np.arange(rounds) // self.length % count


@dataclass(frozen=True)
class RecordedContexts(Context):
    """Repeat a given sequence of indices."""

    indices: tuple[int, ...] = (0,)

    def __post_init__(self) -> None:
        listed = isinstance(self.indices, list | tuple) or np.ndim(self.indices) == 1
        valid = listed and len(self.indices) > 0
        valid = valid and all(is_integer(index) and index >= 0 for index in self.indices)
        require(valid, "indices", "a list of integers >= 0", self.indices)
        object.__setattr__(self, "indices", tuple(int(index) for index in self.indices))

    def draw(self, rounds: int, count: int, rng: np.random.Generator) -> Ints:
        require(max(self.indices) < count, 'context["indices"]', f"in 0..{count - 1}", max(self.indices))
        return np.resize(np.array(self.indices, dtype=np.int64), rounds)


@dataclass(frozen=True)
class Walk(Context):
    """Walk at random on the index: -1, 0 or +1 each round, from a uniform start.

    A step beyond either end is reflected onto that end, so that every round's context is uniform.
    """

    def draw(self, rounds: int, count: int, rng: np.random.Generator) -> Ints:
        start, steps = rng.integers(count), rng.integers(-1, 2, size=rounds - 1)
        free = np.concatenate([[start], start + np.cumsum(steps)]) % (2 * count)
        return np.minimum(free, 2 * count - 1 - free)


LAWS: dict[str, type] = {
    "uniform": UniformContexts,
    "blocks": Blocks,
    "recorded": RecordedContexts,
    "walk": Walk,
}

Uniform, Recorded = UniformContexts, RecordedContexts  # former names, shared by two kinds
