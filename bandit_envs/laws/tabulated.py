"""Laws of functions in a table: recorded ones, of which one is drawn, and those stated for each segment."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from bandit_envs.basics.arguments import require
from bandit_envs.basics.types import Bools, Floats
from bandit_envs.kernels.gram import Gram
from bandit_envs.laws.drawn import Drawn
from bandit_envs.laws.functions import FunctionLaw, Moments


@dataclass(frozen=True, eq=False)
class Tabulated(FunctionLaw):
    """Take functions from the rows of a table.

    Args:
        values: (M, N), one row a function.
        least: the least value that the metric can have, whatever is in the table: 0 for an accuracy.
        moments: of the values, as far as they are known beforehand.
    """

    argument: ClassVar[str] = "values"  # what errors call them

    values: Floats
    least: float | None = None
    moments: Moments | None = None

    def __post_init__(self) -> None:
        given = np.asarray(self.values) if _is_even(self.values) else np.array(None)
        require(given.dtype.kind in "biuf", self.argument, "an (M, N) array of numbers", self.values)
        require(given.ndim == 2 and given.size > 0, self.argument, "an (M, N) array", given.shape)
        require(bool(np.isfinite(given).all()), self.argument, "finite", "NaN or infinity")
        object.__setattr__(self, "values", given.astype(np.float64))
        object.__setattr__(self, "num_functions", len(np.unique(self.values, axis=0)))

    def among(self, points: Floats) -> Floats:
        return self.values

    def sized(self, num_arms: int, size: int) -> FunctionLaw:
        require(self.values.shape[1] == size, self.argument, f"(M, {size})", self.values.shape)
        return self

    def _row(self, gram: Gram, index: Any) -> Drawn:
        self.sized(gram.size, gram.size)
        return Drawn(self.values[index])


@dataclass(frozen=True, eq=False)
class RecordedValues(Tabulated):
    """Draw one of M recorded objectives uniformly; after a change-point, one of those that differ.

    Args:
        values, least, moments: as for `Tabulated`.
    """

    argument = "recorded values"

    @cached_property
    def changed(self) -> Bools:
        """Return which rows differ from the row before, (M,), the first always."""
        return np.append(True, (self.values[1:] != self.values[:-1]).any(axis=1))

    def draw(self, gram: Gram, rng: np.random.Generator) -> Drawn:
        return self._row(gram, rng.integers(len(self.values)))

    def draw_other(self, gram: Gram, rng: np.random.Generator, former: Sequence[Drawn]) -> Drawn:
        repeats = [(self.values == each.values).all(axis=1) for each in former]
        first, left = rng.integers(len(self.values)), np.flatnonzero(~np.any(repeats, axis=0))
        return self._row(gram, first if first in left else rng.choice(left))


Recorded = RecordedValues  # former name, shared by two kinds


@dataclass(frozen=True, eq=False)
class SegmentMeans(Tabulated):
    """Use stated functions, one row a segment, in their order, such as the exercises of textbooks need.

    The change-points are `changes`, with as many functions: `AtRounds((300, 900))` takes three rows, and
    `Recurring(6, 2)` two, which alternate. Costs are stated likewise. A problem draws everything else.

    Args:
        values: (S, N), a row for each segment, over the points: contexts x arms.
        least, moments: as for `Tabulated`; the prior of a learner who knows them.

    Example:
        >>> from sklearn.gaussian_process.kernels import RBF
        >>> from bandit_envs import Decisions, Problem
        >>> from bandit_envs.laws import SegmentMeans, changes
        >>> means = [[0.9, 0.5, 0.1], [0.1, 0.5, 0.9]]
        >>> arms = Decisions([[0.0], [0.5], [1.0]])
        >>> stated = {"reward": SegmentMeans(means), "changes": changes.AtRounds((300,))}
        >>> Problem(arms, kernel=RBF(0.1), horizon=600, **stated).draw(0).optimum[[299, 300]].tolist()
        [0.9, 0.9]
    """

    argument = "segment means"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "num_stated", len(self.values))

    def in_segment(self, segment: int) -> FunctionLaw:
        return SegmentMeans(self.values[[segment]], self.least, self.moments)

    def draw(self, gram: Gram, rng: np.random.Generator) -> Drawn:
        return self._row(gram, 0)  # of one row, which `in_segment` left


def _is_even(values: Any) -> bool:
    """Return whether all rows have as many values, without which they are no array."""
    with suppress(ValueError):
        np.asarray(values)
        return True
    return False
