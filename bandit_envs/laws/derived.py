"""Functions of other laws, rescaled or shifted so that something is feasible."""

from dataclasses import dataclass, replace
from functools import reduce
from typing import Annotated, Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from bandit_envs.basics.arguments import is_number, require
from bandit_envs.basics.options import Checked, positive_fraction
from bandit_envs.basics.types import Floats
from bandit_envs.kernels.gram import Gram
from bandit_envs.laws.drawn import Drawn
from bandit_envs.laws.functions import FunctionLaw, Moments

UNIT_RANGE = Moments(0.5, 0.25)


@dataclass(frozen=True)
class Derived(FunctionLaw):
    """Make one function from each function of another law, whose `kept` facts hold for them too."""

    law: FunctionLaw

    kept: ClassVar[tuple[str, ...]] = ("has_box_form", "num_functions")

    def __post_init__(self) -> None:
        for fact in (*self.kept, "num_stated"):
            object.__setattr__(self, fact, getattr(self.law, fact))

    def in_segment(self, segment: int) -> FunctionLaw:
        return replace(self, law=self.law.in_segment(segment))

    def sized(self, num_arms: int, size: int) -> FunctionLaw:
        law = self.law.sized(num_arms, size)
        return self if law is self.law else replace(self, law=law)


@dataclass(frozen=True)
class Normalized(Derived):
    """Rescale another law's function to minimum 0 and maximum 1 on the points (Verma et al. 2022).

    Args:
        moments: of the rescaled values; by default the middle of the range and a quarter of it as std, which
            suits functions that are drawn.
    """

    moments: Moments | None = UNIT_RANGE

    least = 0.0

    @classmethod
    def of(cls, law: FunctionLaw, points: Floats) -> "Normalized":
        """Return the law with the functions' own moments if they are given at points (N, dz + d)."""
        given = law.among(points)
        span = np.ptp(given, axis=1, keepdims=True)
        if not len(given) or not (span > 0).all():
            return cls(law)
        unit = (given - given.min(axis=1, keepdims=True)) / span
        return cls(law, Moments(float(unit.mean()), float(unit.std())))

    def lower_bound(self, gram: Gram, prior_mean: Floats | float, norm: float | None) -> float:
        return 0.0

    def draw(self, gram: Gram, rng: np.random.Generator) -> Drawn:
        drawn = self.law.draw(gram, rng)
        low = drawn.values.min()
        span = drawn.values.max() - low
        require(span > 0, "normalize", "off for a constant function", True)
        return drawn.rescaled(1.0 / span, -low / span)


@dataclass(frozen=True, eq=False)
class UnderKernel(Derived):
    """Draw another law's function under its own kernel over (context, arm), factorised once a problem."""

    kernel: Any

    kept = ("has_box_form", "num_functions", "is_gaussian", "least", "norm_is_drawn")

    def lower_bound(self, gram: Gram, prior_mean: Floats | float, norm: float | None) -> float:
        return self.law.lower_bound(gram.under(self.kernel), prior_mean, norm)

    def steepest(self, gram: Gram) -> float | None:
        return self.law.steepest(gram.under(self.kernel))

    def prior_std(self, gram: Gram) -> float:
        return self.law.prior_std(gram.under(self.kernel))

    def draw(self, gram: Gram, rng: np.random.Generator) -> Drawn:
        return self.law.draw(gram.under(self.kernel), rng)

    def draws(self, gram: Gram, rng: np.random.Generator, count: int) -> Floats:
        return self.law.draws(gram.under(self.kernel), rng, count)


@dataclass(frozen=True)
class Misspecified(Derived):
    """Add m with |m| <= eps at every point to another law's function f_0, which leaves the kernel's space.

    m is eps or -eps at each point, in units of the reward, by independent fair coins, so it is defined at the
    points only. The norm that is published is f_0's.
    """

    eps: float = 0.1

    kept = ("norm_is_drawn",)  # m is defined at the points only, and drawn

    def __post_init__(self) -> None:
        super().__post_init__()
        require(is_number(self.eps) and self.eps >= 0, "eps", "0 or positive", self.eps)
        object.__setattr__(self, "misspecification", self.eps)
        object.__setattr__(self, "num_functions", None if self.eps else self.law.num_functions)
        if self.law.least is not None:
            object.__setattr__(self, "least", self.law.least - self.eps)

    def lower_bound(self, gram: Gram, prior_mean: Floats | float, norm: float | None) -> float:
        return self.law.lower_bound(gram, prior_mean, norm) - self.eps

    def prior_std(self, gram: Gram) -> float:
        return float(np.hypot(self.law.prior_std(gram), self.eps))

    def draw(self, gram: Gram, rng: np.random.Generator) -> Drawn:
        drawn = self.law.draw(gram, rng)
        return Drawn(drawn.values + self.eps * rng.choice([-1.0, 1.0], gram.size), drawn.norm)


@runtime_checkable
class Feasibility(Protocol):
    """Shift the costs of a segment after they are drawn, without randomness."""

    def shift(self, costs: list[Drawn], num_contexts: int) -> list[Drawn]:
        """Return the shifted costs of one segment, each over Z contexts x A arms."""
        ...


@dataclass(frozen=True)
class AsDrawn(Feasibility):
    """Leave costs as drawn; a trial without a feasible arm raises an error."""

    def shift(self, costs: list[Drawn], num_contexts: int) -> list[Drawn]:
        return costs


AS_DRAWN = AsDrawn()


@dataclass(frozen=True)
class FeasibleShare(Checked, Feasibility):
    r"""Shift to g_j = h_j - q, one q for all costs of a segment, so that a share of the arms satisfies all.

    q = max_z (the ceil(quantile A)-th smallest over arms of max_j h_j(z, a)): in the tightest context z
    exactly that many arms are feasible jointly, in the others at least as many. One constant for all contexts
    and costs leaves each g_j a draw of its law plus a constant, as smooth as before.
    """

    quantile: Annotated[float, positive_fraction()] = 0.3

    def shift(self, costs: list[Drawn], num_contexts: int) -> list[Drawn]:
        if not costs:
            return costs
        worst = reduce(np.maximum, [cost.values for cost in costs]).reshape(num_contexts, -1)  # (Z, A)
        rank = int(np.ceil(self.quantile * worst.shape[1])) - 1
        q = float(np.partition(worst, rank, axis=1)[:, rank].max())
        return [cost.rescaled(1.0, -q) for cost in costs]
