"""Maximum likelihood estimates of a kernel and a noise variance.

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
from dataclasses import dataclass, fields
from functools import partial
from typing import Annotated, Any, NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs  # type: ignore[attr-defined]
from sklearn.gaussian_process.kernels import Kernel

from bandit_envs.basics.arguments import written_as
from bandit_envs.basics.options import Checked, count, not_negative, one_of, positive, whole
from bandit_envs.basics.types import Floats, Ints
from bandit_envs.problem.truth import descended

from ..kernels.amplitude import amplified_at, amplitude_path, is_at, with_amplitude
from ..kernels.slopes import in_theta, with_theta
from ..options import require_left_out

SOURCES = ("arrived", "all")
Spread = Annotated[float, positive("inf is for no prior", infinite=True)]
NOISE_BOUNDS = (1e-6, 1e2)  # of the prior variance
RESTART_FACTOR = 10.0  # a restart is within this factor of the model's own values


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


def likelihood(
    theta: Floats, kernel: Any, sample: Sample, with_mean: bool = False
) -> tuple[float, Floats, float]:
    """Return -log p, its gradient in theta, (p + 1,), and the most likely constant mean, 0 if none is learnt.

    Where the covariance has no factor -log p is infinite.
    """
    noise, n = math.exp(theta[-1]), sample.plays
    covariance, pull_back = in_theta(with_theta(kernel, theta[:-1]), sample.features)
    covariance = covariance.copy()  # the kernel may keep a reference
    diagonal = slice(None, None, len(n) + 1)  # of a matrix as a vector
    covariance.ravel()[diagonal] += noise / n
    upper, failed = dpotrf(covariance.T, lower=0, clean=1, overwrite_a=1)  # L', in place of C
    if failed:
        return math.inf, np.zeros(len(theta)), 0.0
    centre = 0.0
    if with_mean:
        ones = _solve(upper, np.ones(len(n)))
        centre = float(ones @ sample.mean / ones.sum())
    m = sample.mean - centre
    weight, scale = _solve(upper, m), np.diag(upper).copy()
    # C^-1 in a third of the time of solving for the identity; below the diagonal dpotri leaves zeros.
    half, _ = dpotri(upper, lower=0, overwrite_c=1)
    pull = np.multiply.outer(weight, weight)
    own = pull.ravel()[diagonal] - half.diagonal()
    pull -= half
    pull -= half.T
    pull.ravel()[diagonal] = own
    repeats = sample.repeats
    log_p = -0.5 * m @ weight - np.log(scale).sum() - 0.5 * len(n) * math.log(2.0 * math.pi)
    log_p -= 0.5 * (repeats * math.log(2.0 * math.pi * noise) + np.log(n).sum() + sample.scatter / noise)
    log_p += 0.5 * sample.log_weights
    gradient = np.empty(len(theta))
    gradient[:-1] = 0.5 * pull_back(pull)
    gradient[-1] = 0.5 * ((own * noise / n).sum() - repeats + sample.scatter / noise)
    return -float(log_p), -gradient, centre


def _solve(upper: Floats, values: Floats) -> Floats:
    """Return C^-1 b from the factor L' of C, (u,)."""
    return dpotrs(upper, values, lower=0)[0]


@dataclass(frozen=True)
class Learning(Checked):
    """Options of learning hyperparameters: the `fit_...` of `SharedOptions`, once in `every` rounds.

    `on` is "arrived" (delivered values that the belief kept) or "all" (pending plays too, with the values
    that the belief assumes for them: the least one, when it censors them).
    """

    every: Annotated[int, count("it is the number of rounds between fits; None is off")] = 10
    on: Annotated[str, one_of(*SOURCES)] = "arrived"
    restarts: Annotated[int, whole(0, "it is the number of random starts of a fit")] = 1
    mean: bool = False
    spread: Spread = math.inf
    most: Annotated[int, whole(2, "one value does not determine a length-scale")] | None = None
    amplitude_spread: Spread = math.inf
    noise_spread: Annotated[float, not_negative("inf is for no prior", infinite=True)] = math.inf

    @property
    def latest(self) -> slice:
        """The latest values, as many as a fit uses."""
        return slice(None if self.most is None else -self.most, None)

    @classmethod
    def asked(cls, every: int | None, spread: float | None, usual: float, **options: Any) -> Learning | None:
        """Return the requested learning, by default of the `usual` spread; None, if it is off, as is 0."""
        if every:
            with written_as(
                {each.name: f"fit_{each.name}" for each in fields(cls)} | {"every": "refit_every"}
            ):
                return cls(every, spread=usual if spread is None else spread, **options)
        remedy = "give refit_every, such as 10, or leave it out"
        require_left_out("fit_spread", spread, None, "without refit_every", remedy)
        for name, value in options.items():
            if value is not (default := getattr(cls, name)):
                require_left_out(f"fit_{name}", value, default, "without refit_every", remedy)
        return None


def prior_precision(kernel: Kernel, learning: Learning) -> Floats:
    """Return 1 / spread^2 of each free hyperparameter and of the noise variance, (p + 1,), 0 without a prior.

    log h ~ N(log h_0, spread^2) around the first value h_0 of a hyperparameter. Without a prior a fit may
    explain few values without any noise, and many without a trend by a constant.
    """
    named = {"length_scale": learning.spread, "constant_value": learning.amplitude_spread}
    free = [(each.name.rpartition("__")[2], each) for each in kernel.hyperparameters if not each.fixed]
    stds = [np.full(each.n_elements, named.get(name, np.inf)) for name, each in free]
    spread = np.concatenate([*stds, [learning.noise_spread]])
    return 1.0 / np.where(spread > 0.0, spread, np.inf) ** 2


class Hyperparameters(NamedTuple):
    """Result of a fit."""

    kernel: Any  # scikit-learn's
    noise_variance: float
    centre: float = 0.0  # increase of the prior mean


class Fitter:
    """Fits by L-BFGS-B within the kernel's own bounds, from several starts.

    The optimiser works with values in prior stds, and amplitude and noise in prior variances: its start and
    end have no unit. For units that are a power of two apart its steps are identical, else equal up to
    rounding. A kernel without an amplitude is given one; of `learning` it reads the spreads of the prior.
    """

    def __init__(
        self,
        kernel: Any,
        noise_variance: float,
        prior_variance: float,
        learning: Learning,
        with_mean: bool = False,
    ):
        self._kernel, self._with_mean = with_amplitude(kernel), with_mean
        self._variance, self._prior_std = prior_variance, math.sqrt(prior_variance)
        path = amplitude_path(self._kernel)
        self._in_units = amplified_at(self._kernel, path, 1.0 / prior_variance)
        self._shift = is_at(self._kernel, path) * math.log(prior_variance)  # (p,)
        bounds = self._in_units.bounds.reshape(-1, 2)
        self._bounds = np.vstack([bounds, np.log(NOISE_BOUNDS)])  # (p + 1, 2) logarithms
        noise = math.log(noise_variance / prior_variance)
        if learning.noise_spread == 0:  # the noise is known
            self._bounds[-1] = noise
        self._first = self._clip(np.append(self._in_units.theta, noise))
        self.latest = self._first  # kernel and noise of the last fit, in prior stds, as logarithms, (p + 1,)
        self._precision = prior_precision(self._in_units, learning)

    def fit(
        self,
        features: Floats,
        point: Ints,
        value: Floats,
        restarts: int,
        rng: np.random.Generator,
        weight: Floats | None = None,
    ) -> Hyperparameters | None:
        """Return the most likely hyperparameters, None where no start leads to finite ones.

        Values that are all equal do not determine a scale, and leave the hyperparameters unchanged.

        Args:
            features: coordinates of all points, (N, d).
            point, value: of the plays, (n,) each, values minus their prior mean.
            restarts: random starts in addition to the latest hyperparameters, from `rng`, which draws the
                same number of variates whether or not the fit succeeds.
            weight: how many values of the learnt noise each counts as, (n,); None for one.
        """
        span = math.log(RESTART_FACTOR)
        random = self._first + rng.uniform(-span, span, (restarts, len(self._first)))
        if value.min() == value.max():
            return None
        sample = Sample.of(features, point, value / self._prior_std, weight)
        found = [self._descend(start, sample) for start in (self.latest, *map(self._clip, random))]
        theta, height = min(found, key=lambda each: each[1])
        if not (math.isfinite(height) and np.isfinite(theta).all()):
            return None
        *_, centre = likelihood(theta, self._in_units, sample, self._with_mean)
        return self.take(theta, centre * self._prior_std)

    def take(self, theta: Floats, centre: float) -> Hyperparameters:
        """Set the latest hyperparameters, in the form of `latest`, and the mean's rise, and return them."""
        self.latest = theta
        kernel = self._kernel.clone_with_theta(theta[:-1] + self._shift)
        return Hyperparameters(kernel, math.exp(theta[-1]) * self._variance, centre)

    def _descend(self, start: Floats, sample: Sample) -> tuple[Floats, float]:
        try:
            end, height = descended(partial(self._loss, sample), start, self._bounds)
        except (ArithmeticError, ValueError):  # raised by kernels outside their domain
            return start, math.inf
        return end, height if math.isfinite(height) else math.inf

    def _loss(self, sample: Sample, theta: Floats) -> tuple[float, Floats]:
        loss, slopes, _ = likelihood(theta, self._in_units, sample, self._with_mean)
        gap = theta - self._first
        return loss + 0.5 * float(self._precision @ gap**2), slopes + self._precision * gap

    def _clip(self, theta: Floats) -> Floats:
        return np.clip(theta, self._bounds[:, 0], self._bounds[:, 1])
