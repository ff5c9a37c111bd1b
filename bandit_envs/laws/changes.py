"""Draw the rounds at which reward and constraint functions change, to new functions or back to old ones."""

import abc
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated

import numpy as np

from bandit_envs.basics.arguments import is_count, require
from bandit_envs.basics.options import Checked, count, positive_fraction, whole
from bandit_envs.basics.types import Ints


class Changes(abc.ABC):
    """Draw the change-points."""

    @property
    def needed(self) -> int | None:
        """Return the number of functions that a run needs, 1 without a change-point; None if it is drawn."""
        return None

    @property
    def different(self) -> int:
        """Return the number of functions that must all differ: of two neighbours, or of all that recur."""
        return 2 if self.needed is None else min(self.needed, 2)

    @abc.abstractmethod
    def draw(self, horizon: int, rng: np.random.Generator) -> Ints:
        """Return the segment of each round, (T,): the number of change-points up to it."""

    def functions(self, segment: Ints) -> Ints:
        """Return the function of each segment, (T,) -> (T,), by its number: a new one unless they recur."""
        return segment


@dataclass(frozen=True)
class Stationary(Changes):
    """Draw no change-point."""

    @property
    def needed(self) -> int:
        return 1

    def draw(self, horizon: int, rng: np.random.Generator) -> Ints:
        return np.zeros(horizon, dtype=np.int64)


@dataclass(frozen=True)
class AtRounds(Changes):
    """Change at each given round below T (round 0 is the first)."""

    rounds: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        listed = isinstance(self.rounds, list | tuple | range) or np.ndim(self.rounds) == 1
        rounds = tuple(self.rounds) if listed else self.rounds
        ascend = listed and all(map(is_count, rounds)) and all(a < b for a, b in pairwise(rounds))
        require(ascend, "rounds", "ascending rounds above 0, such as [300, 900]", self.rounds)
        object.__setattr__(self, "rounds", rounds)

    @property
    def needed(self) -> int:
        return 1 + len(self.rounds)

    def draw(self, horizon: int, rng: np.random.Generator) -> Ints:
        within = not self.rounds or self.rounds[-1] < horizon
        require(within, "change_points", f"rounds below the horizon {horizon}", list(self.rounds))
        return segments_of(np.array(self.rounds, dtype=np.int64), horizon)


@dataclass(frozen=True)
class Evenly(Checked, Changes):
    """Split the run into K segments; number i = 1..K ends after round(i T / K) rounds (Avanesov 2020)."""

    num_segments: Annotated[int, count()] = 4

    @property
    def needed(self) -> int:
        return self.num_segments

    def draw(self, horizon: int, rng: np.random.Generator) -> Ints:
        k = self.num_segments
        require(k <= horizon, "num_segments", f"at most the horizon {horizon}", k)
        ends = (2 * np.arange(1, k) * horizon + k) // (2 * k)
        return segments_of(ends, horizon)


@dataclass(frozen=True)
class GeometricChanges(Checked, Changes):
    """Change in each round with the same probability, except in the first rounds of a segment.

    The lengths of segments are min_gap - 1 + G with G geometric, of mean min_gap - 1 + 1 / hazard.

    Args:
        hazard: probability of a change in a round that may have one, in (0, 1].
        min_gap: rounds that every segment lasts at least.
    """

    hazard: Annotated[float, positive_fraction()] = 0.005
    min_gap: Annotated[int, count()] = 1

    def draw(self, horizon: int, rng: np.random.Generator) -> Ints:
        waits = rng.geometric(self.hazard, size=-(-horizon // self.min_gap))
        # Both are cut off before they are added: a wait may be the largest integer there is.
        lengths = min(self.min_gap - 1, horizon) + np.minimum(waits, horizon)
        return segments_of(np.cumsum(lengths), horizon)


@dataclass(frozen=True)
class Recurring(Checked, Changes):
    """Split as `Evenly` into K segments that cycle through F different functions: A, B, A, B for F = 2.

    Args:
        num_segments: K, at most T.
        num_functions: F, at least 2; from K on no function returns.
    """

    num_segments: Annotated[int, count()] = 6
    num_functions: Annotated[int, whole(2)] = 2

    @property
    def needed(self) -> int:
        return min(self.num_functions, self.num_segments)

    @property
    def different(self) -> int:
        return self.needed

    def draw(self, horizon: int, rng: np.random.Generator) -> Ints:
        return Evenly(self.num_segments).draw(horizon, rng)

    def functions(self, segment: Ints) -> Ints:
        return segment % self.num_functions


LAWS: dict[str, type] = {
    "stationary": Stationary,
    "at": AtRounds,
    "evenly": Evenly,
    "geometric": GeometricChanges,
    "recurring": Recurring,
}

Geometric = GeometricChanges  # former name, shared by two kinds


def segments_of(change_points: Ints, horizon: int) -> Ints:
    """Return the segment of each round, (T,), from the first rounds of segments 1, 2, ..., ascending."""
    return np.searchsorted(change_points, np.arange(horizon), side="right")


def change_points_of(segment: Ints) -> Ints:
    """Return the first round of every segment but the first, (T,) -> (S - 1,); inverse of `segments_of`."""
    return np.flatnonzero(np.diff(segment)) + 1
