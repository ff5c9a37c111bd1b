"""Widths of bounded norm: IGP-UCB, AMM, real beta, Theorem 3, delayed, sketched; bands of fixed plans."""

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Self

import numpy as np

from bandit_envs.basics.options import (
    PER_TRIAL,
    Checked,
    PerTrial,
    at_least_one,
    count,
    not_negative,
    positive,
)
from bandit_envs.basics.types import Floats, Ints

from ..model.model import Model
from .base import ONE, Bound, Deltas, Failures, NoiseStd, NoiseVariance, elementwise, log, sqrt
from .information_gain import Gamma, Realised


@dataclass(frozen=True)
class BoundedNorm(Checked):
    """Bound B on the RKHS norm of f, R of its R-sub-Gaussian noise, and lambda of the model."""

    bound: Bound
    noise_std: NoiseStd
    noise_variance: NoiseVariance

    @classmethod
    def of(cls, model: Model, *others: Any, **named: Any) -> Self:
        """Return the width, or the band, with a model's B, R and lambda."""
        return cls(model.rkhs_bound, model.noise_std, model.noise_variance, *others, **named)

    def around(self, nats: Floats) -> Floats:
        """Return B + sqrt((R^2 / lambda) nats), (B,)."""
        width = self.bound + np.sqrt(np.square(self.noise_std) / self.noise_variance * nats)
        return np.asarray(width, dtype=np.float64)


@dataclass(frozen=True)
class ImprovedWidth(Checked):
    """B + R sqrt(2 (gamma_{t-1} + 1 + log(union / delta))) (Chowdhury & Gopalan 2017, Algorithms 1 and 2).

    The theorem requires lambda = 1 + 2/T; the experiments' lambda = R^2 reproduces curves, not coverage.

    Args:
        bound: B, at least the RKHS norm of f.
        noise_std: R / s: the noise is R-sub-Gaussian, and the paper takes the largest prior std s as 1.
        gamma: the information gain; the realised one is enough for the band.
        delta: probability that the regret bound fails, shared by `union` failures: 1 in IGP-UCB, 2 in GP-TS.
    """

    bound: Bound
    noise_std: NoiseStd
    gamma: Gamma = Realised()
    delta: Deltas = 0.1
    union: Failures = 1

    def __call__(self, t: Ints, gain: Floats) -> Floats:
        return self._of_gamma(self.gamma(t - ONE, gain))

    @elementwise
    def _of_gamma(self, gamma: Any) -> Any:
        return self.bound + self.noise_std * sqrt(2.0 * (gamma + self._failure))

    @cached_property
    def _failure(self) -> Any:
        """1 + log(union / delta), a number or (B,)."""
        return 1.0 + log(self.union / self.delta)


@dataclass(frozen=True)
class SelfNormalisedWidth(BoundedNorm):
    """B + R / sqrt(lambda) * sqrt(2 (g_{t-1} + log(1 / delta))) (after Abbasi-Yadkori 2011).

    It holds for every lambda > 0 and R-sub-Gaussian noise, with the realised gain or any upper bound on it;
    delta is the probability that the band fails at some point and round.
    """

    gamma: Gamma = Realised()
    delta: Deltas = 0.1

    def __call__(self, t: Ints, gain: Floats) -> Floats:
        ratio = self.noise_std / np.sqrt(self.noise_variance)
        gamma = self.gamma(t - 1, gain)
        return self.bound + ratio * np.sqrt(2.0 * (gamma + np.log(1.0 / self.delta)))


@dataclass(frozen=True)
class AMMWidth(SelfNormalisedWidth):
    """sqrt(B^2 + (2 R^2 / lambda) (g_{t-1} + log(1 / delta))) (Flynn & Reeb 2024, AMM-UCB).

    It holds where the self-normalised width holds, for adaptive plays and all rounds at once, and is never
    larger, because it is sqrt(a^2 + b^2) in place of a + b.

    Proof: for g ~ GP(0, (R^2 / lambda) k) the mean over g of exp((|y - f|^2 - |y - g|^2) / (2 R^2)) is a
    supermartingale, so with probability 1 - delta, for all t,

        |y - f|^2 <= lambda y' (K + lambda I)^-1 y + 2 R^2 (g_t + log(1 / delta)),

    and |y - f|^2 + lambda |f|_H^2 = lambda y' (K + lambda I)^-1 y + |f - mu|^2 in the norm of Phi'Phi +
    lambda I, in which no |f - mu|(x) is more than sigma(x) / sqrt(lambda) a unit.
    """

    def __call__(self, t: Ints, gain: Floats) -> Floats:
        nats = self.gamma(t - 1, gain) + np.log(1.0 / self.delta)
        return np.sqrt(np.square(self.bound) + 2.0 * np.square(self.noise_std) / self.noise_variance * nats)


@dataclass(frozen=True)
class RealBetaWidth(SelfNormalisedWidth):
    """B + R / sqrt(lambda) sqrt(ln det(max(1, 1 / lambda) K_t + max(1, lambda) I) - 2 ln delta).

    It is the width of Fiedler et al. (2024) for lambda >= 1, in prior variances. Below 1 they print K_t in
    place of K_t / lambda, for which no proof is known; ours is the self-normalised width there. With n plays,

        ln det(...) = 2 g + n ln max(1, lambda),

    and t - 1 is taken for n, which exceeds the number of delivered values if feedback is late.
    """

    relative_variance: PerTrial = 1.0  # lambda in prior variances

    def __call__(self, t: Ints, gain: Floats) -> Floats:
        ratio = self.noise_std / np.sqrt(self.noise_variance)
        determinant = 2.0 * self.gamma(t - 1, gain)
        determinant = determinant + (t - 1) * np.log(np.maximum(1.0, self.relative_variance))
        return self.bound + ratio * np.sqrt(determinant - 2.0 * np.log(self.delta))


@dataclass(frozen=True)
class RKHSWidth(Checked):
    """sqrt(beta_t), beta_t = 2 B^2 + 300 gamma_t log^3(t / delta) (Srinivas et al. 2010, Theorem 3).

    It holds with probability 1 - delta for functions of norm B, noise bounded by sqrt(lambda) and `gamma` an
    upper bound, which the realised gain is not.
    """

    bound: Bound
    gamma: Gamma
    delta: Deltas = 0.1

    def __call__(self, t: Ints, gain: Floats) -> Floats:
        gamma = self.gamma(t, gain)
        return np.sqrt(2.0 * np.square(self.bound) + 300.0 * gamma * np.log(t / self.delta) ** 3)


@dataclass(frozen=True)
class DelayedWidth(Checked):
    """B_f + (R + B_y) sqrt(2 (gamma_{t-1} + 1 + log(union / delta))) (Verma et al. 2022, Theorems 1 and 3).

    It holds for lambda > s^2 together with the bias of `Censored`, for rho_m f, not for f; s is the largest
    prior std, which the paper takes as 1.

    Args:
        bound: B_f, at least the RKHS norm of the shifted f.
        noise_std, reward_bound: R / s of R-sub-Gaussian noise, and B_y / s, where B_y bounds the shifted |y|.
        union: 2 with UCB, 4 with Thompson sampling.
    """

    bound: Bound
    noise_std: NoiseStd
    reward_bound: Annotated[PerTrial, not_negative("it bounds the shifted rewards")] = 1.0
    gamma: Gamma = Realised()
    delta: Deltas = 0.1
    union: Failures = 2

    def __call__(self, t: Ints, gain: Floats) -> Floats:
        gamma = self.gamma(t - 1, gain)
        spread = np.sqrt(2.0 * (gamma + (1.0 + np.log(self.union / self.delta))))
        return np.asarray(self.bound + (self.noise_std + self.reward_bound) * spread, dtype=np.float64)


@dataclass(frozen=True)
class BKBWidth(BoundedNorm):
    """B + sqrt((R^2 / lambda) (d_eff log t + log(1 / delta))) (Calandriello et al. 2019, the authors' code).

    It fails with probability delta if dictionaries are as large as the theorem requires.
    """

    delta: Deltas = 0.1

    def __call__(self, t: Ints, gain: Floats) -> Floats:
        """Return the width from the effective dimension d_eff in the place of the gain, (B,)."""
        return self.around(gain * np.log(t) + np.log(1.0 / self.delta))


@dataclass(frozen=True)
class BBKBWidth(BoundedNorm):
    """B + sqrt((R^2 / lambda) (C logdet + log(1 / delta))) (Calandriello et al. 2020, the authors' code).

    C is the factor by which variances may be off within a batch; delta as for `BKBWidth`.
    """

    growth: Annotated[float, PER_TRIAL, at_least_one("variances only shrink within a batch")] = 2.0
    delta: Deltas = 0.1

    def __call__(self, t: Ints, gain: Floats) -> Floats:
        """Return the width from the gain 1/2 logdet, (B,)."""
        return self.around(2.0 * self.growth * gain + np.log(1.0 / self.delta))


@dataclass(frozen=True)
class NonAdaptive(BoundedNorm):
    """Base of bands that are valid only for plays chosen without using any value.

    They hold at N arms and H times at once, N H the `values`, for R-sub-Gaussian noise and functions of norm
    B. Each covers one value of the function at a time, so no information gain enters.
    """

    delta: Deltas = 0.1
    values: Annotated[int, count("it is the number of arms times that of looks at them")] = 1

    def _bias(self, std: Floats, weight_norm: Floats) -> Floats:
        """B sqrt(sigma^2 - lambda |a_x|^2), (B, N)."""
        square = np.maximum(std**2 - _column(self.noise_variance) * weight_norm**2, 0.0)
        return _column(self.bound) * np.sqrt(square)

    @property
    def _noise(self) -> Floats:
        """R sqrt(2 log(2 N H / delta)), (1, 1) or (B, 1)."""
        return _column(self.noise_std * np.sqrt(2.0 * np.log(2.0 * self.values / np.asarray(self.delta))))


@dataclass(frozen=True)
class PlainBand(NonAdaptive):
    """(B + R / sqrt(lambda) sqrt(2 log(2 N H / delta))) sigma(x) (Vakili et al. 2021, Theorem 1).

    The paper prints 1 / delta, which is the level of a one-sided band.
    """

    def __call__(self, std: Floats, weight_norm: Floats) -> Floats:
        return (_column(self.bound) + self._noise / np.sqrt(_column(self.noise_variance))) * std


@dataclass(frozen=True)
class ConstantBand(Checked):
    """w sigma(x), a band without a proof."""

    width: Annotated[float, PER_TRIAL, positive("it multiplies a standard deviation")]

    def __call__(self, std: Floats, weight_norm: Floats) -> Floats:
        return self.width * std


@dataclass(frozen=True)
class SplitBand(NonAdaptive):
    """B sqrt(sigma^2 - lambda |a_x|^2) + R |a_x| sqrt(2 log(2 N H / delta)), a_x = (K + lambda I)^-1 k(x).

    It is never wider than the plain band, because |a_x| <= sigma / sqrt(lambda). Proof: the mean is a_x'y,
    whose noise is R |a_x|-sub-Gaussian and whose bias is largest for the worst function of norm B, with
    square B^2 (k - 2 k'a + a'K a) = B^2 (sigma^2 - lambda |a_x|^2).
    """

    def __call__(self, std: Floats, weight_norm: Floats) -> Floats:
        return self._bias(std, weight_norm) + self._noise * weight_norm


@dataclass(frozen=True)
class DriftBand(NonAdaptive):
    r"""Band of the average function of a batch whose functions differ by at most V at any point.

    It is the smaller of two, whose plays, a plan without values, are made

        in uniformly random order:  B sqrt(sigma^2 - lambda |a_x|^2) + sqrt(R^2 + V^2) |a_x| q,
        in any order:               B sqrt(sigma^2 - lambda |a_x|^2) + R |a_x| q + V sum_j |a_x,j|,

    q = sqrt(2 log(2 N H / delta)). Which one is smaller depends on the plan alone, so delta is spent once.
    Proof: the functions are fixed before the order is drawn, and each has norm at most B. The first term is
    the bias of the average as in `SplitBand`. Reveal the order of the plays by decreasing |a_j|: to change
    the round of the j-th is coupled with one swap, which moves the conditional mean of sum_j a_j (f_j -
    average) by at most 2 V |a_j|, so that it is V |a_x|-sub-Gaussian (Azuma-Hoeffding). In any order its
    absolute value is at most V sum_j |a_j|. For a linear drift V / 2 may replace V there.
    """

    def __call__(self, std: Floats, weight_norm: Floats, weight_sum: Floats, variation: float) -> Floats:
        noise, bias = _column(self.noise_std), self._bias(std, weight_norm)
        quantile = np.sqrt(2.0 * np.log(2.0 * self.values / _column(self.delta)))
        return np.minimum(
            bias + np.hypot(noise, variation) * weight_norm * quantile,
            bias + noise * weight_norm * quantile + variation * weight_sum,
        )


def _column(values: PerTrial) -> Floats:
    return np.reshape(np.asarray(values, dtype=np.float64), (-1, 1))
