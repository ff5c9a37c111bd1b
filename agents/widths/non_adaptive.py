"""Bands that are valid only for plays chosen without using any value.

They hold at N arms and H times at once, for R-sub-Gaussian noise and functions of norm B. Each covers one
value of the function at a time, so no information gain enters. A uniform band is included for comparison.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bandit_envs.basics.arguments import require_at_least_one, require_positive, require_probability
from bandit_envs.basics.types import Floats

from ..validation import PerTrial
from .bounded_norm import BoundedNorm


@dataclass(frozen=True)
class NonAdaptive(BoundedNorm):
    """Parameters of the first two bands: delta, and N H, the number of arms and times at which they hold."""

    delta: PerTrial = 0.1
    values: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        require_probability("delta", self.delta)
        require_at_least_one("values", self.values, "it is the number of arms times that of looks at them")

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
class ConstantBand:
    """w sigma(x), a band without a proof."""

    width: float

    def __post_init__(self) -> None:
        require_positive("width", self.width, "it multiplies a standard deviation")

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
        bias = np.maximum(std**2 - _column(self.noise_variance) * weight_norm**2, 0.0)
        return _column(self.bound) * np.sqrt(bias) + self._noise * weight_norm


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
        noise = _column(self.noise_std)
        return np.minimum(
            self._split(std, weight_norm, np.hypot(noise, variation)),
            self._split(std, weight_norm, noise) + variation * weight_sum,
        )

    def _split(self, std: Floats, weight_norm: Floats, noise: Floats) -> Floats:
        bias = np.maximum(std**2 - _column(self.noise_variance) * weight_norm**2, 0.0)
        quantile = np.sqrt(2.0 * np.log(2.0 * self.values / _column(self.delta)))
        return _column(self.bound) * np.sqrt(bias) + noise * weight_norm * quantile


def _column(values: PerTrial) -> Floats:
    return np.reshape(np.asarray(values, dtype=np.float64), (-1, 1))
