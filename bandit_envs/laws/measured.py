"""Laws of what was measured with each arm of a table: its single runs, what a run took, what it cost."""

import math
from dataclasses import KW_ONLY, dataclass

import numpy as np

from bandit_envs.basics.arguments import require
from bandit_envs.basics.types import Floats, Ints
from bandit_envs.kernels.gram import Gram
from bandit_envs.laws.delays.waits import TAIL, DelayInTime
from bandit_envs.laws.drawn import Drawn
from bandit_envs.laws.noise import Noise
from bandit_envs.laws.play_costs import PlayCosts


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
        require(
            len(features) == len(self.times), "times", f"one for each of {len(features)} arms", self.times
        )
        return self.times

    def quantile(self, late: float = TAIL) -> float:
        """Return infinity: the window is published, and would tell the longest of the measured times."""
        return math.inf

    def _draw_relative(self, horizon: int, rng: np.random.Generator) -> Floats:
        return np.ones(horizon)


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
