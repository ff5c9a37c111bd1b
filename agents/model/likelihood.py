"""The marginal likelihood of a kernel and a noise variance, and a prior on them.

k values of one point of noise s2 / w_i, with n = sum w_i, mean m = sum w_i y_i / n and squares
S = sum w_i (y_i - m)^2, are as likely, given f there, as m with noise s2 / n times
(2 pi s2)^(-(k - 1) / 2) (prod w_i / n)^(1/2) exp(-S / (2 s2)); all w_i are 1 where the noise is the same.
So over u distinct points, with C = K + diag(s2 / n) and a = C^-1 m,

    log p = -1/2 m'a - 1/2 logdet C - u/2 log(2 pi)
            - sum_x [(k - 1)/2 log(2 pi s2) + 1/2 log n - 1/2 sum log w_i + S / (2 s2)]

and d log p = 1/2 tr((a a' - C^-1) dC) plus the sum's derivative (Rasmussen & Williams 2006, 5.9).

If a constant mean is learnt too, its optimum for given kernel and noise has the closed form
1'C^-1 m / 1'C^-1 1; the derivatives in the others are then those at that optimum.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs  # type: ignore[attr-defined]
from sklearn.gaussian_process.kernels import Kernel

from bandit_envs.basics.types import Floats, Ints

from ..kernels.theta_slopes import in_theta, with_theta


class Spreads(NamedTuple):
    """Stds of the logarithms of hyperparameters around their first values; infinite for no prior.

    Without a prior a fit may explain few values without any noise, and many without a trend by a constant.
    """

    length_scale: float = np.inf
    amplitude: float = np.inf  # of the prior variance
    noise: float = np.inf  # of its variance; 0 keeps a known noise

    def of(self, kernel: Kernel) -> Floats:
        """Return the stds of a kernel's free hyperparameters and the noise, (p,)."""
        named = {"length_scale": self.length_scale, "constant_value": self.amplitude}
        free = [each for each in kernel.hyperparameters if not each.fixed]
        spreads = [
            np.full(each.n_elements, named.get(each.name.rpartition("__")[2], np.inf)) for each in free
        ]
        return np.concatenate([*spreads, [self.noise]])


@dataclass(frozen=True, eq=False)
class LogNormalPrior:
    """log h ~ N(log h_0, spread^2) for every hyperparameter h that has a spread, and flat in the others."""

    centre: Floats  # logarithms of the hyperparameters, the noise variance last, (p,)
    precision: Floats  # 1 / spread^2, (p,)

    @classmethod
    def of(cls, kernel: Kernel, centre: Floats, spreads: Spreads) -> LogNormalPrior:
        """Return the prior of a kernel and a noise; fixed hyperparameters need none."""
        spread = spreads.of(kernel)
        return cls(np.array(centre), 1.0 / np.where(spread > 0.0, spread, np.inf) ** 2)

    def __call__(self, theta: Floats) -> tuple[float, Floats]:
        """Return -log p up to a constant, and its gradient, (p,)."""
        gap = theta - self.centre
        return 0.5 * float(self.precision @ gap**2), self.precision * gap


class Sample(NamedTuple):
    """Noisy values of a function, condensed to their distinct points."""

    features: Floats  # (u, d)
    plays: Floats  # (u,) n
    mean: Floats  # (u,) m
    scatter: float  # sum of all S
    repeats: int  # sum of all k - 1
    log_weights: float  # sum of all log w

    @classmethod
    def of(cls, features: Floats, point: Ints, value: Floats, weight: Floats | None = None) -> Sample:
        """Condense values of points, (n,), whose features are rows of (N, d), as for `Fitter.fit`."""
        distinct, place = np.unique(point, return_inverse=True)
        each = np.ones(len(point)) if weight is None else weight
        plays = np.asarray(np.bincount(place, each, len(distinct)), dtype=np.float64)
        mean = np.bincount(place, each * value, len(distinct)) / plays
        scatter = float((each * (value - mean[place]) ** 2).sum())
        log_weights = 0.0 if weight is None else float(np.log(weight).sum())
        return cls(features[distinct], plays, mean, scatter, len(point) - len(distinct), log_weights)


class Likelihood(NamedTuple):
    """-log p of some hyperparameters, its gradient, and the most likely constant mean under them."""

    loss: float
    slopes: Floats  # (p + 1,)
    centre: float  # 0 where no mean is learnt


def negative_log_likelihood(
    theta: Floats, kernel: Any, sample: Sample, with_mean: bool = False
) -> tuple[float, Floats]:
    """Return -log p and its gradient in the logarithms theta; infinity where the covariance has no factor."""
    found = likelihood(theta, kernel, sample, with_mean)
    return found.loss, found.slopes


def likelihood(theta: Floats, kernel: Any, sample: Sample, with_mean: bool = False) -> Likelihood:
    """Return -log p, its gradient and the mean; as `negative_log_likelihood`."""
    noise, n = math.exp(theta[-1]), sample.plays
    covariance, pull_back = in_theta(with_theta(kernel, theta[:-1]), sample.features)
    covariance = covariance.copy()  # the kernel may keep a reference
    covariance[np.diag_indices(len(n))] += noise / n
    upper, failed = dpotrf(covariance.T, lower=0, clean=0, overwrite_a=1)  # L', in place of C
    if failed:
        return Likelihood(math.inf, np.zeros(len(theta)), 0.0)
    centre = _centre(upper, sample.mean) if with_mean else 0.0
    m = sample.mean - centre
    weight, scale = _solve(upper, m), np.diag(upper).copy()
    pull = np.multiply.outer(weight, weight) - _inverse(upper)
    repeats = sample.repeats
    log_p = -0.5 * m @ weight - np.log(scale).sum() - 0.5 * len(n) * math.log(2.0 * math.pi)
    log_p -= 0.5 * (repeats * math.log(2.0 * math.pi * noise) + np.log(n).sum() + sample.scatter / noise)
    log_p += 0.5 * sample.log_weights
    gradient = np.empty(len(theta))
    gradient[:-1] = 0.5 * pull_back(pull)
    gradient[-1] = 0.5 * ((np.diag(pull) * noise / n).sum() - repeats + sample.scatter / noise)
    return Likelihood(-float(log_p), -gradient, centre)


def _centre(upper: Floats, values: Floats) -> float:
    weight = _solve(upper, np.ones(len(values)))
    return float(weight @ values / weight.sum())


def _solve(upper: Floats, values: Floats) -> Floats:
    """Return C^-1 b from the factor L' of C, (u,)."""
    return dpotrs(upper, values, lower=0)[0]


def _inverse(upper: Floats) -> Floats:
    """Return C^-1 from the factor L' of C, (u, u), in a third of the time of solving for the identity."""
    inverse, _ = dpotri(upper, lower=0, overwrite_c=1)  # below the diagonal its entries are undefined
    return np.where(np.tri(len(inverse), dtype=np.bool_), inverse.T, inverse)
