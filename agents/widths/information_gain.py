"""The information gain gamma_t in a width: realised, a constant, a rate, or a table of its maximum."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Protocol, runtime_checkable

import numpy as np
from sklearn.gaussian_process.kernels import DotProduct, Kernel

from bandit_envs.basics.arguments import require_at_least_one, require_not_negative, require_positive
from bandit_envs.basics.options import Checked, PerTrial, not_negative, positive
from bandit_envs.basics.types import Floats, Ints
from bandit_envs.kernels.circulant import Circulant
from bandit_envs.kernels.gram import Gram

from ..kernels.amplitude import smoothness, split_amplitude
from ..posteriors import posterior
from .base import Value

GREEDY_FACTOR = 1.0 / (1.0 - np.exp(-1.0))  # the gain is submodular (Nemhauser et al. 1978)
TIE = 1e-9  # relative rounding error of the largest variance


@dataclass(frozen=True)
class GainTable:
    """Table of gamma_t for t = 0..T; trials with the same noise variance share a row."""

    values: Floats  # (L, T + 1), one row a distinct noise variance
    row: Ints  # (B,), or () for one row shared by all trials

    def __call__(self, rounds: Ints, gain: Floats) -> Floats:
        try:
            return self.values[self.row, rounds]
        except IndexError:
            horizon = self.values.shape[1] - 1
            raise ValueError(
                f"gamma is known for 0..{horizon} observations, got {rounds}; give a larger horizon"
            ) from None


def upper_bound(gram: Gram, noise_variance: PerTrial, horizon: int) -> GainTable:
    """Return the smaller of the spectral and the greedy bound, both of which hold for every design.

    The greedy bound is smaller in the first rounds and larger in the long run, so the greedy design is
    computed only until the spectral bound is smaller in every row. It is left out where a round of it takes a
    Fourier transform of a whole grid.
    """
    spectral = spectral_bound(gram, noise_variance, horizon)
    if isinstance(gram.structure, Circulant):
        return spectral
    values = spectral.values.copy()
    for t, gain in enumerate(greedy_gains(gram, _distinct(noise_variance)[0], horizon), 1):
        if np.all(values[:, t] <= GREEDY_FACTOR * gain):
            break
        values[:, t] = np.minimum(values[:, t], GREEDY_FACTOR * gain)
    return GainTable(values, spectral.row)


def spectral_bound(gram: Gram, noise_variance: PerTrial, horizon: int) -> GainTable:
    """Return max over m >= 0, sum m = T, of 1/2 sum_i log(1 + m_i e_i / lambda) (Srinivas 2010, Lemma 7.6).

    The eigenvalues e_i are those of K on the whole set. The lemma's factor 1 / (1 - 1/e) is not needed,
    because det(I + K M) <= prod_i (1 + e_i(K) e_i(M)) for the diagonal matrix M of play counts.

    On grids that are too large for their root, the e_i are products of the eigenvalues of a product kernel's
    factors. For other stationary kernels on a million points they cannot be computed; upper bounds replace
    them, eigenvalues of a torus (`Circulant.eigenvalues`): the table remains a bound, but a larger one.
    """
    noise, row = _distinct(noise_variance)
    if gram.structure is None:
        eigenvalues = np.asarray(np.linalg.eigvalsh(gram.root @ gram.root.T)[::-1], dtype=np.float64)
    else:
        eigenvalues = gram.structure.eigenvalues
    eigenvalues = eigenvalues[eigenvalues > 0]  # the smallest may be rounding
    return GainTable(water_filling(eigenvalues, _rounds(horizon) / noise[:, None]), row)


def greedy_bound(gram: Gram, noise_variance: PerTrial, horizon: int) -> GainTable:
    """Return the greedy design's gain over 1 - 1/e, its guaranteed share (Srinivas et al. 2010, 5.1)."""
    noise, row = _distinct(noise_variance)
    values = np.zeros((len(noise), _rounds(horizon).size))
    for t, gain in enumerate(greedy_gains(gram, noise, horizon), 1):
        values[:, t] = GREEDY_FACTOR * gain
    return GainTable(values, row)


def water_filling(eigenvalues: Floats, budget: Floats) -> Floats:
    """Return max over m >= 0, sum m = budget, of 1/2 sum_i log(1 + m_i e_i), of any shape, e descending.

    The optimum is m_i = max(0, w - 1/e_i), where the r largest eigenvalues are active at the level w =
    (budget + sum_{i<=r} 1/e_i) / r; the r-th joins once the budget reaches r/e_r - sum_{i<=r} 1/e_i.
    """
    inverse = 1.0 / eigenvalues
    count = np.arange(1, len(inverse) + 1)
    total = np.cumsum(inverse)
    joins_at = np.maximum.accumulate(count * inverse - total)  # ascending up to rounding
    last = np.searchsorted(joins_at, budget, side="right") - 1
    active = last + 1
    level = (budget + total[last]) / active
    gain = 0.5 * (active * np.log(level) + np.cumsum(np.log(eigenvalues))[last])
    return np.maximum(gain, 0.0)  # rounding at budget 0


def greedy_gains(gram: Gram, noise: Floats, horizon: int) -> Iterator[Floats]:
    """Yield 1/2 sum_{s<=t} log(1 + sigma_{s-1}^2(x_s) / lambda), (L,) each, for t = 1, ..., T.

    x_s is the point of largest variance, the first of tied ones. The gains come from a posterior of L trials,
    in the form that suits the prior: on a large grid by its factors.
    """
    model, trial = posterior(gram, noise, len(noise), horizon), np.arange(len(noise))
    for _ in range(horizon):
        variance = model.variance_at(None)
        point = (variance >= (1.0 - TIE) * variance.max(axis=1, keepdims=True)).argmax(axis=1)
        model.observe(trial, point, np.zeros(len(noise)))
        yield model.gain.copy()


def _distinct(noise_variance: PerTrial) -> tuple[Floats, Ints]:
    """Return the L distinct noise variances, (L,), and each trial's index among them, (B,) or ()."""
    require_positive("noise_variance", noise_variance, "the information gain is infinite without noise")
    noise, row = np.unique(np.asarray(noise_variance, dtype=np.float64), return_inverse=True)
    return noise, row.reshape(np.shape(noise_variance))


def _rounds(horizon: int) -> Ints:
    require_not_negative("horizon", horizon, "it is the number of rounds")
    return np.arange(horizon + 1)


@runtime_checkable
class Gamma(Protocol):
    """Function that gives the information about the reward function available after t rounds, in nats."""

    def __call__(self, rounds: Ints, gain: Floats) -> Floats:
        """Return gamma after `rounds` observations with realised gain `gain`, (B,) each -> (B,)."""
        ...


@dataclass(frozen=True)
class Realised:
    """g_t = 1/2 log det(I + K_t / lambda) of the points played so far; no upper bound on gamma_t."""

    def __call__(self, rounds: Ints, gain: Floats) -> Floats:
        return gain


@dataclass(frozen=True)
class ConstantGain(Checked):
    """gamma_t = value (Chowdhury & Gopalan 2017, section 6, take 1 on sensor data)."""

    value: Value = 1.0

    def __call__(self, rounds: Ints, gain: Floats) -> Floats:
        return np.full(rounds.shape, self.value, dtype=np.float64)


@dataclass(frozen=True)
class Rate(Checked):
    """gamma_t = constant * t^power * (ln t)^log_power at max(t, 1): an order of growth, not a bound."""

    power: Annotated[float, not_negative("gamma_t never falls")]
    log_power: Annotated[float, positive("gamma_0 must be 0")]
    constant: Annotated[float, positive("use 1 for the papers' rates")] = 1.0

    def __call__(self, rounds: Ints, gain: Floats) -> Floats:
        t = np.maximum(rounds, 1)
        return self.constant * t**self.power * np.log(t) ** self.log_power


def rate_for(kernel: Kernel, dim: int, vakili: bool = False) -> Rate:
    """Return the order of growth for a squared exponential, Matern or linear kernel in d dimensions.

    It is (ln t)^(d+1), t^(d(d+1) / (2 nu + d(d+1))) ln t or d ln t (Srinivas et al. 2010, Theorem 5), and
    with `vakili` t^(d / (2 nu + d)) (ln t)^(2 nu / (2 nu + d)) for a Matern kernel (Vakili et al. 2021).
    """
    require_at_least_one("dim", dim, "it is the number of features of a point")
    _, shape = split_amplitude(kernel)
    nu = smoothness(shape)
    if isinstance(shape, DotProduct):
        return Rate(0.0, 1.0, constant=float(dim))
    if nu is None:
        raise ValueError(
            f"no rate of information gain is known for {kernel!r}; "
            "use the realised gain, upper_bound(...) of the kernel's Gram matrix, or a constant"
        )
    if math.isinf(nu):
        return Rate(0.0, dim + 1.0)
    if vakili:
        power = dim / (2 * nu + dim)
        return Rate(power, 1.0 - power)
    squared = dim * (dim + 1)
    return Rate(squared / (2 * nu + squared), 1.0)
