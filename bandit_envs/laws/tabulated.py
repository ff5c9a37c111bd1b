"""Laws of tables: recorded functions, those stated for each segment, and what was measured with each arm."""

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from bandit_envs.basics.arguments import as_array, require
from bandit_envs.basics.types import Bools, Floats, Ints
from bandit_envs.kernels.gram import Gram
from bandit_envs.laws.delays.waits import TAIL, DelayInTime
from bandit_envs.laws.drawn import Drawn
from bandit_envs.laws.functions import FunctionLaw, Moments
from bandit_envs.laws.noise import Noise
from bandit_envs.laws.play_costs import PlayCosts


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
        given = as_array(self.values)
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


@dataclass(frozen=True, eq=False)
class Replicates(Noise):
    """Observe one of the runs of the point that is played, drawn uniformly: no law is fitted.

    A round draws u uniform in [0, 1), and a play of x is observed as its run number floor(u n_x) of n_x, so
    all agents meet the same draws. A point that was run once is observed as it was. `std` is the root of the
    mean variance of the runs of a point, which is never published.

    Args:
        residuals: the runs of all points less the point's mean, one point's together, (R,).
        first: the first run of each point, and R, (N + 1,).
        stated: the std that is published with a model; None for none.
    """

    _: KW_ONLY
    residuals: Floats
    first: Ints
    stated: float | None = None

    def __post_init__(self) -> None:
        count = np.diff(self.first)
        object.__setattr__(self, "num_points", len(count))
        require(len(self.residuals) == self.first[-1], "first", "ending with the runs' number", self.first)
        variance = np.add.reduceat(np.square(self.residuals), self.first[:-1]) / count
        object.__setattr__(self, "std", float(np.sqrt(variance.mean())))
        super().__post_init__()

    @property
    def stated_std(self) -> float | None:
        return self.stated

    def draw(self, horizon: int, rng: np.random.Generator) -> Floats:
        return rng.random(horizon)

    def of_runs(self, drawn: Floats, point: Ints) -> Floats:
        count = self.first[point + 1] - self.first[point]
        share = drawn / self.std if self.std else 0.0 * drawn
        rank = np.minimum((share * count).astype(np.int64), count - 1)  # rounding may give count
        return self.residuals[self.first[point] + rank]


@dataclass(frozen=True, eq=False)
class MeasuredTimes(DelayInTime):
    """Wait for as long as a run of the arm took, on average over its runs.

    Args:
        mean, interval: as for all delays in time; the mean is 1, and `times` are in its unit.
        times: of each arm, (A,), positive.
    """

    mean: float = 1.0
    _: KW_ONLY
    times: Floats

    is_measured = True

    def __post_init__(self) -> None:
        super().__post_init__()
        require(bool((self.times > 0).all()), "times", "positive", self.times)

    def slowdown(self, features: Floats) -> Floats:
        count = len(features)
        require(len(self.times) == count, "times", f"one for each of {count} arms", self.times)
        return self.times

    def quantile(self, late: float = TAIL) -> float:
        """Return infinity: the window is published, and would tell the longest of the measured times."""
        return math.inf

    def draw_waits(self, horizon: int, rng: np.random.Generator) -> Floats:
        return np.full(horizon, self.mean)


@dataclass(frozen=True, eq=False)
class MeasuredCosts(PlayCosts):
    """Charge what a run of the arm took, positive, on average over its runs."""

    _: KW_ONLY
    values: Floats

    is_fixed = True
    is_measured = True

    def __post_init__(self) -> None:
        require(bool((self.values > 0).all()), "values", "positive", self.values)
        super().__post_init__()

    @property
    def extent(self) -> tuple[float, float]:
        """Return the power of 10 below all costs, which is published and tells their size, and the most."""
        return 10.0 ** math.floor(math.log10(self.values.min())), float(self.values.max())

    @property
    def prior(self) -> tuple[float, float]:
        return float(self.values.mean()), float(self.values.std())

    def check_size(self, size: int) -> None:
        require(len(self.values) == size, "values", f"({size},) costs", self.values.shape)

    def draw(self, gram: Gram, rng: np.random.Generator) -> Drawn:
        return Drawn(self.values)
