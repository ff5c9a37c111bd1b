"""Laws of clicks and counts: a play's outcome is drawn from its mean, a link of a latent function.

    Bernoulli: P(y = 1) = s(base + f(x)),   s(z) = 1 / (1 + exp(-z)),
    Poisson:   E y = exposure exp(base + f(x)).

The mean of the trial is the mean reward, so regret and optima are in its unit: probability, or events a
round. A round has one uniform number, so all agents meet the same randomness: y = 1[U < p], and the
quantile of U for counts.
"""

import abc
import math
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from scipy.special import expit

from bandit_envs.basics.arguments import require
from bandit_envs.basics.options import Checked, number, parse, positive
from bandit_envs.basics.types import Floats
from bandit_envs.kernels.gram import Gram
from bandit_envs.kernels.kernels import LinkedKernel
from bandit_envs.laws.delays import poisson_quantile
from bandit_envs.laws.derived import Derived, UnderKernel
from bandit_envs.laws.drawn import Drawn
from bandit_envs.laws.functions import FunctionLaw, Moments
from bandit_envs.laws.noise import Noise

LARGEST_BASE = 20.0  # beyond it a double holds s(base) as 0 or 1, nearly
SMALL = number(f"at most {LARGEST_BASE:g} in size", lambda base: abs(base) <= LARGEST_BASE)
_NODES, _WEIGHTS = hermegauss(100)
NODES, SHARES = _NODES, _WEIGHTS / _WEIGHTS.sum()  # E g(u) = sum of g(NODES) SHARES, u ~ N(0, 1)
TERMS = 60  # of the series of a covariance
ROUNDING = 1e-9  # of variances that are the same
NEGLIGIBLE = 1e-12  # share of the variance below which the last terms are left out


@dataclass(frozen=True)
class OutcomeLaw(Checked, abc.ABC):
    """Draw the outcome of a play from its mean.

    Args:
        base: m0, the latent value where f = 0, a constant of the law.
    """

    base: Annotated[float, SMALL] = 0.0

    highest: ClassVar[float] = math.inf  # mean outcome that is possible; the lowest is 0

    def require_possible(self, name: str, means: Any) -> None:
        """Raise unless outcomes can have these means."""
        given = np.asarray(means)
        possible = given.dtype.kind in "iuf" and bool(((given >= 0.0) & (given <= self.highest)).all())
        kind = "from 0 to 1" if self.highest == 1.0 else "0 or positive"
        require(possible, name, f"{kind}, as means of {type(self).__name__} outcomes are", means)

    @abc.abstractmethod
    def mean(self, latent: Floats) -> Floats:
        """Return the mean outcome where f has these values."""

    @abc.abstractmethod
    def variance(self, mean: Floats) -> Floats:
        """Return the variance of outcomes of these means."""

    @abc.abstractmethod
    def drawn(self, uniform: Any, mean: Any) -> Any:
        """Return the outcomes of plays from their rounds' numbers in [0, 1) and their means."""

    def expected(self, latent_std: float) -> float:
        """Return E mean(f), f ~ N(0, deviation^2)."""
        return float(self.mean(latent_std * NODES) @ SHARES)

    def noise_std(self, latent_std: float) -> float:
        """Return the root of the mean variance of an outcome, E Var(y | f), f ~ N(0, deviation^2)."""
        return math.sqrt(float(self.variance(self.mean(latent_std * NODES)) @ SHARES))

    def covariances(self, latent_std: float) -> Floats:
        """Return a_1, a_2, ...: Cov(mean(f), mean(f')) = sum_j a_j rho^j for correlation rho of f and f'.

        a_j = c_j^2, c_j the coefficient of the j-th normalised Hermite polynomial in mean(deviation u).
        """
        values = self.mean(latent_std * NODES) * SHARES
        before, now = np.zeros_like(NODES), np.ones_like(NODES)
        terms = []
        for j in range(TERMS):  # h_{j+1} = (u h_j - sqrt(j) h_{j-1}) / sqrt(j + 1)
            before, now = now, (NODES * now - math.sqrt(j) * before) / math.sqrt(j + 1)
            terms.append(float(values @ now) ** 2)
        left = np.cumsum(terms[::-1])[::-1]  # of each term and those behind it
        return np.array(terms)[left > NEGLIGIBLE * left[0]]


@dataclass(frozen=True)
class BernoulliOutcomes(OutcomeLaw):
    """Click or none: P(y = 1) = s(base + f(x))."""

    highest = 1.0

    def mean(self, latent: Floats) -> Floats:
        return np.asarray(expit(self.base + latent))

    def variance(self, mean: Floats) -> Floats:
        return mean * (1.0 - mean)

    def drawn(self, uniform: Any, mean: Any) -> Any:
        return np.where(uniform < mean, 1.0, 0.0)


@dataclass(frozen=True)
class PoissonCounts(OutcomeLaw):
    """Number of events: y ~ Poisson(exposure exp(base + f(x))).

    Args:
        exposure: of a play, such as the number of visitors.
    """

    exposure: Annotated[float, positive()] = 1.0

    def mean(self, latent: Floats) -> Floats:
        return self.exposure * np.exp(self.base + latent)

    def variance(self, mean: Floats) -> Floats:
        return mean

    def drawn(self, uniform: Any, mean: Any) -> Any:
        """Return the least y with P(Y <= y) >= U."""
        found = poisson_quantile(uniform, mean)
        return np.where(uniform <= np.exp(-np.asarray(mean)), 0.0, found)


LAWS: dict[str, type[OutcomeLaw]] = {"bernoulli": BernoulliOutcomes, "poisson": PoissonCounts}


@dataclass(frozen=True)
class OfOutcome(Noise):
    """Replace a play's mean by an outcome; `std` is the published root of the mean variance."""

    outcome: OutcomeLaw = BernoulliOutcomes()

    draws_outcomes = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.outcome, BernoulliOutcomes):  # |y - p| <= 1, and Hoeffding's lemma: R = 1/2
            object.__setattr__(self, "relative_bound", (1.0 + ROUNDING) / self.std)
            object.__setattr__(self, "sub_gaussian", 0.5 / self.std)

    def of_means(self, drawn: Any, mean: Any) -> Any:
        return self.outcome.drawn(drawn, mean)

    def draw(self, horizon: int, rng: np.random.Generator) -> Floats:
        """Return the uniform numbers of the rounds, (T,)."""
        return rng.random(horizon)


@dataclass(frozen=True, eq=False)
class OfLatent(Derived):
    """Take the mean outcome of another law's function, which is drawn under its own kernel.

    The published model of the means is moment-matched: their exact prior mean and covariance, which
    agents that assume Gaussian noise play as they are.

    Args:
        law: of the latent function f, under `kernel`.
        outcome: of a play.
        kernel: of f, of one variance everywhere, deviation^2.
        latent_bound: on the norm of f in the kernel's RKHS, for every draw; None if there is none.
    """

    outcome: OutcomeLaw
    kernel: Any
    latent_std: float
    latent_bound: float | None

    least = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "moments", Moments(self.outcome.expected(self.latent_std)))

    def draw(self, gram: Gram, rng: np.random.Generator) -> Drawn:
        return self.law.draw(gram, rng).through(self.outcome.mean)


class Matched(NamedTuple):
    """Hold the laws of a problem of outcomes, and the moment-matched kernel of their means."""

    reward: OfLatent
    noise: OfOutcome
    kernel: LinkedKernel


def matched(law: FunctionLaw, kernel: Any, points: Floats, spec: Any) -> Matched:
    """Return the laws of outcomes of a latent function of a law under a kernel.

    Args:
        spec: the outcome: an `OutcomeLaw`, or {"law": "bernoulli" | "poisson", "base": m0, ...}.
    """
    outcome = parse("outcome", spec, LAWS, OutcomeLaw)
    variance = np.asarray(kernel.diag(points))
    alike = bool(np.ptp(variance) <= ROUNDING * variance.max())
    require(alike, "kernel", "of one variance everywhere where rewards are clicks or counts", kernel)
    latent_std = math.sqrt(variance[0])
    reward = OfLatent(UnderKernel(law, kernel), outcome, kernel, latent_std, law.norm_bound)
    noise = OfOutcome(outcome.noise_std(latent_std), outcome=outcome)
    return Matched(reward, noise, LinkedKernel(kernel, outcome.covariances(latent_std)))


Bernoulli, Poisson = BernoulliOutcomes, PoissonCounts  # former names, shared by two kinds
