"""Take functions that are given: by a formula or by a record."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from bandit_envs.basics.arguments import LARGEST_STD, require
from bandit_envs.basics.types import Floats
from bandit_envs.kernels.gram import Gram
from bandit_envs.laws.drawn import Drawn
from bandit_envs.laws.functions.base import FunctionLaw, Moments


@dataclass(frozen=True)
class KnownFunction(FunctionLaw):
    """Use a given function, such as a test function of optimisation, (n, dz + d) -> (n,), finite."""

    function: Callable[[Floats], Any]
    moments: Moments | None = None

    has_box_form = True
    is_fixed = True

    def among(self, points: Floats) -> Floats:
        return self._values(points)[None]

    def draw(self, gram: Gram, rng: np.random.Generator) -> Drawn:
        return Drawn(self._values(gram.points), between=self._values)

    def _values(self, points: Floats) -> Floats:
        returned, given = self.function(points), np.array(None)
        with suppress(ValueError):  # of lists of different lengths; errors of the function itself pass
            given = np.asarray(returned)
        require(given.dtype.kind in "biuf", "known function", "an array of real numbers", given)
        values = given.astype(np.float64)
        require(values.shape == (len(points),), "known function", f"({len(points)},) values", values.shape)
        require(np.isfinite(values).all(), "known function", "finite at every point", "NaN or infinity")
        small = f"at most {LARGEST_STD:g} in size; its square is a variance"
        require((np.abs(values) <= LARGEST_STD).all(), "known function", small, values)
        return values


@dataclass(frozen=True, eq=False)
class Recorded(FunctionLaw):
    """Draw one of M recorded objectives uniformly.

    Args:
        values: (M, N), one row an objective.
        least: the least value that the metric can have, whatever was recorded: 0 for an accuracy.
        moments: of the values, as far as they are known beforehand.
    """

    values: Floats
    least: float | None = None
    moments: Moments | None = None

    def __post_init__(self) -> None:
        matrix = np.ndim(self.values) == 2 and np.size(self.values) > 0
        require(matrix, "recorded values", "an (M, N) array", np.shape(self.values))
        require(np.isfinite(self.values).all(), "recorded values", "finite", "NaN or infinity")

    def among(self, points: Floats) -> Floats:
        return self.values

    def draw(self, gram: Gram, rng: np.random.Generator) -> Drawn:
        require(self.values.shape[1] == gram.size, "recorded values", f"(M, {gram.size})", self.values.shape)
        return Drawn(self.values[rng.integers(len(self.values))])
