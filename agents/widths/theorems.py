"""Confidence widths: the multiplier of the posterior standard deviation, one class a theorem."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, pi
from typing import Protocol, runtime_checkable

import numpy as np

from bandit_envs.basics.types import Floats, Ints

from ..validation import (
    Numeric,
    require_at_least_one,
    require_not_negative,
    require_positive,
    require_probability,
)
from .information_gain import Gamma, Realised

BOUND_REMEDY = "it bounds the RKHS norm of the mean reward"
NOISE_REMEDY = "it bounds the sub-Gaussian noise"
MODEL_REMEDY = "it is the noise variance lambda that the model assumes"


@runtime_checkable
class Width(Protocol):
    """Says how many standard deviations the confidence band reaches from the mean."""

    def __call__(self, round_: Ints, gain: Floats) -> Floats:
        """Return w_t of round t = 1, 2, ... given the gain g_{t-1} before it, (B,) each -> (B,)."""
        ...


@dataclass(frozen=True)
class FixedWidth:
    """The same width in every round."""

    value: Numeric = 1.0  # or (B,)

    def __post_init__(self) -> None:
        require_not_negative("value", self.value, "it multiplies a standard deviation")

    def __call__(self, round_: Ints, gain: Floats) -> Floats:
        """Return the value once a trial, (B,)."""
        return np.full(round_.shape, self.value, dtype=np.float64)


@dataclass(frozen=True)
class FiniteSetWidth:
    """sqrt(beta_t), beta_t = 2 log(|D| t^2 pi^2 / (6 delta)) (Srinivas et al. 2010, Theorem 1).

    Holds for f drawn from the prior, with lambda the true variance of Gaussian noise.

    Args:
        size: number of points |D|; with contexts, of (context, arm) pairs.
        delta: probability that the band fails to contain f at some point and round.
        scale: factor of beta_t; the paper's experiments use 1/5, which loses the guarantee.
    """

    size: int
    delta: float = 0.1
    scale: float = 1.0

    def __post_init__(self) -> None:
        require_at_least_one("size", self.size, "it is the number of points")
        require_probability("delta", self.delta)
        require_positive("scale", self.scale, "use 1 for the theorem, 1/5 for the paper's experiments")

    def __call__(self, round_: Ints, gain: Floats) -> Floats:
        """Return sqrt(scale * beta_t), (B,)."""
        union = log(self.size * pi**2 / (6.0 * self.delta))
        return np.sqrt(self.scale * (2.0 * union + 4.0 * np.log(round_)))  # log t^2 = 2 log t


@dataclass(frozen=True)
class RKHSWidth:
    """sqrt(beta_t), beta_t = 2 B^2 + 300 gamma_t log^3(t / delta) (Srinivas et al. 2010, Theorem 3).

    Holds for noise bounded by sqrt(lambda) and `gamma` a true upper bound; the realised gain is none.

    Args:
        bound: B, at least the RKHS norm of f.
        gamma: the information gain gamma_t.
        delta: probability that the band fails.
        lag: 1 takes gamma_{t-1} instead, as Chowdhury & Gopalan (2017) quote it.
    """

    bound: Numeric
    gamma: Gamma
    delta: float = 0.1
    lag: int = 0

    def __post_init__(self) -> None:
        require_not_negative("bound", self.bound, BOUND_REMEDY)
        require_probability("delta", self.delta)
        require_not_negative("lag", self.lag, "use 0 for gamma_t and 1 for gamma_{t-1}")

    def __call__(self, round_: Ints, gain: Floats) -> Floats:
        """Return sqrt(beta_t), (B,)."""
        gamma = self.gamma(round_ - self.lag, gain)
        return np.sqrt(2.0 * np.square(self.bound) + 300.0 * gamma * np.log(round_ / self.delta) ** 3)


@dataclass(frozen=True)
class ImprovedWidth:
    """B + R sqrt(2 (gamma_{t-1} + 1 + log(union / delta))) (Chowdhury & Gopalan 2017, Algorithms 1 and 2).

    A theorem at lambda = 1 + 2/T only; the experiments' lambda = R^2 reproduces curves, not coverage.

    Args:
        bound: B, at least the RKHS norm of f.
        noise_std: R, the noise is R-sub-Gaussian.
        gamma: the information gain; the realised one is enough for the band.
        delta: probability that the regret bound fails.
        union: how many failures share delta: 1 in IGP-UCB, 2 in GP-TS.
    """

    bound: Numeric
    noise_std: Numeric
    gamma: Gamma = Realised()
    delta: float = 0.1
    union: int = 1

    def __post_init__(self) -> None:
        require_not_negative("bound", self.bound, BOUND_REMEDY)
        require_not_negative("noise_std", self.noise_std, NOISE_REMEDY)
        require_probability("delta", self.delta)
        require_at_least_one("union", self.union, "use 1 for IGP-UCB and 2 for GP-TS")

    def __call__(self, round_: Ints, gain: Floats) -> Floats:
        """Return the width, (B,)."""
        gamma = self.gamma(round_ - 1, gain)
        return self.bound + self.noise_std * np.sqrt(2.0 * (gamma + (1.0 + np.log(self.union / self.delta))))


@dataclass(frozen=True)
class SelfNormalisedWidth:
    """B + R / sqrt(lambda) * sqrt(2 (g_{t-1} + log(1 / delta))) (after Abbasi-Yadkori 2011).

    Holds for every lambda > 0 and R-sub-Gaussian noise, with the realised gain or any upper bound on it.
    """

    bound: Numeric
    noise_std: Numeric
    noise_variance: Numeric
    gamma: Gamma = Realised()
    delta: float = 0.1

    def __post_init__(self) -> None:
        require_not_negative("bound", self.bound, BOUND_REMEDY)
        require_not_negative("noise_std", self.noise_std, NOISE_REMEDY)
        require_positive("noise_variance", self.noise_variance, MODEL_REMEDY)
        require_probability("delta", self.delta)

    def __call__(self, round_: Ints, gain: Floats) -> Floats:
        """Return the width, (B,)."""
        ratio = self.noise_std / np.sqrt(self.noise_variance)
        gamma = self.gamma(round_ - 1, gain)
        return self.bound + ratio * np.sqrt(2.0 * (gamma + np.log(1.0 / self.delta)))


@dataclass(frozen=True)
class DelayedWidth:
    """B_f + (R + B_y) sqrt(2 (gamma_{t-1} + 1 + log(union / delta))) (Verma et al. 2022, Theorems 1 and 3).

    Holds for lambda > 1 together with the bias of `Censored`, for rho_m f, not for f.

    Args:
        bound: B_f, at least the RKHS norm of the shifted f.
        noise_std: R, the noise is R-sub-Gaussian.
        reward_bound: B_y, which bounds the shifted |y|.
        gamma: the information gain.
        delta: failure probability.
        union: 2 with UCB, 4 with Thompson sampling.
    """

    bound: Numeric
    noise_std: Numeric
    reward_bound: Numeric = 1.0
    gamma: Gamma = Realised()
    delta: float = 0.1
    union: int = 2

    def __post_init__(self) -> None:
        require_not_negative("bound", self.bound, BOUND_REMEDY)
        require_not_negative("noise_std", self.noise_std, NOISE_REMEDY)
        require_not_negative("reward_bound", self.reward_bound, "it bounds the shifted rewards")
        require_probability("delta", self.delta)
        require_at_least_one("union", self.union, "use 2 for UCB and 4 for Thompson sampling")

    def __call__(self, round_: Ints, gain: Floats) -> Floats:
        """Return beta_t, (B,)."""
        gamma = self.gamma(round_ - 1, gain)
        spread = np.sqrt(2.0 * (gamma + (1.0 + np.log(self.union / self.delta))))
        return self.bound + (self.noise_std + self.reward_bound) * spread


@dataclass(frozen=True)
class KernelUCBWidth:
    """Eta / sqrt(lambda), the exploration of KernelUCB (Valko et al. 2013)."""

    eta: Numeric
    noise_variance: Numeric

    def __post_init__(self) -> None:
        require_not_negative("eta", self.eta, "it multiplies a standard deviation")
        require_positive("noise_variance", self.noise_variance, MODEL_REMEDY)

    def __call__(self, round_: Ints, gain: Floats) -> Floats:
        """Return the width once a trial, (B,)."""
        return np.full(round_.shape, self.eta / np.sqrt(self.noise_variance), dtype=np.float64)
