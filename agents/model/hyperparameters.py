"""Maximum likelihood estimates of a kernel and a noise variance."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize

from bandit_envs.basics.arguments import require_integer
from bandit_envs.basics.types import Floats, Ints

from ..kernels.amplitude import amplified_at, amplitude_path, is_at, with_amplitude
from ..options import require_left_out
from .likelihood import LogNormalPrior, Sample, Spreads, likelihood, negative_log_likelihood

SOURCES = ("arrived", "all")
NOISE_BOUNDS = (1e-6, 1e2)  # of the prior variance
NO_PRIOR = Spreads()
RESTART_FACTOR = 10.0  # a restart is within this factor of the model's own values


@dataclass(frozen=True)
class Learning:
    """Options of learning hyperparameters: the `fit_...` of `SharedOptions`, once in `every` rounds.

    `on` is "arrived" (delivered values that the belief kept) or "all" (pending plays too, with the values
    that the belief assumes for them: the least one, when it censors them).
    """

    every: int = 10
    on: str = "arrived"
    restarts: int = 1
    mean: bool = False
    spread: float = math.inf
    most: int | None = None
    amplitude_spread: float = math.inf
    noise_spread: float = math.inf

    def __post_init__(self) -> None:
        require_integer("refit_every", self.every, 1, "it is the number of rounds between fits; None is off")
        require_integer("fit_restarts", self.restarts, 0, "it is the number of random starts of a fit")
        if self.most is not None:
            require_integer("fit_most", self.most, 2, "one value does not determine a length-scale")
        for name in ("spread", "amplitude_spread"):
            if not getattr(self, name) > 0:
                given = getattr(self, name)
                raise ValueError(f"fit_{name} must be positive, got {given}; use inf for no prior")
        if not self.noise_spread >= 0:
            raise ValueError(
                f"fit_noise_spread must not be negative, got {self.noise_spread}; use inf for no prior"
            )
        if self.on not in SOURCES:
            raise ValueError(f"fit_on must be one of {', '.join(SOURCES)}, got {self.on!r}")

    @property
    def spreads(self) -> Spreads:
        """Stds of the prior on all hyperparameters."""
        return Spreads(self.spread, self.amplitude_spread, self.noise_spread)

    @classmethod
    def asked(cls, every: int | None, spread: float | None, usual: float, **options: Any) -> Learning | None:
        """Return the requested learning, by default of the `usual` spread; None, if it is off, as is 0."""
        learning = cls(every or 1, spread=usual if spread is None else spread, **options)
        if every:
            return learning
        remedy = "give refit_every, such as 10, or leave it out"
        require_left_out("fit_spread", spread, None, "without refit_every", remedy)
        for name, value in options.items():
            require_left_out(f"fit_{name}", value, getattr(cls, name), "without refit_every", remedy)
        return None


class Hyperparameters(NamedTuple):
    """Result of a fit."""

    kernel: Any  # scikit-learn's
    noise_variance: float
    centre: float = 0.0  # increase of the prior mean


class Fitter:
    """Fits by L-BFGS-B within the kernel's own bounds, from several starts.

    The optimiser works with values in prior stds, and amplitude and noise in prior variances: its start and
    end have no unit. For units that are a power of two apart its steps are identical, else equal up to
    rounding. A kernel without an amplitude is given one; for `spreads` see `LogNormalPrior`.
    """

    def __init__(
        self,
        kernel: Any,
        noise_variance: float,
        prior_variance: float,
        with_mean: bool = False,
        spreads: Spreads = NO_PRIOR,
    ):
        self._kernel, self._with_mean = with_amplitude(kernel), with_mean
        self._variance, self._deviation = prior_variance, math.sqrt(prior_variance)
        path = amplitude_path(self._kernel)
        self._in_units = amplified_at(self._kernel, path, 1.0 / prior_variance)
        self._shift = is_at(self._kernel, path) * math.log(prior_variance)  # (p,)
        bounds = self._in_units.bounds.reshape(-1, 2)
        self._bounds = np.vstack([bounds, np.log(NOISE_BOUNDS)])  # (p + 1, 2) logarithms
        noise = math.log(noise_variance / prior_variance)
        if spreads.noise == 0:
            self._bounds[-1] = noise
        self._first = self._clip(np.append(self._in_units.theta, noise))
        self.latest = self._first  # kernel and noise of the last fit, in prior stds, as logarithms, (p + 1,)
        self._prior = LogNormalPrior.of(self._in_units, self._first, spreads)

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
            restarts: random starts in addition to the latest hyperparameters.
            rng: of the restarts; it draws the same number of variates whether or not the fit succeeds.
            weight: how many values of the learnt noise each counts as, (n,); None for one.
        """
        span = math.log(RESTART_FACTOR)
        random = self._first + rng.uniform(-span, span, (restarts, len(self._first)))
        if value.min() == value.max():
            return None
        sample = Sample.of(features, point, value / self._deviation, weight)
        found = [self._descend(start, sample) for start in (self.latest, *map(self._clip, random))]
        theta, height = min(found, key=lambda each: each[1])
        if not (math.isfinite(height) and np.isfinite(theta).all()):
            return None
        centre = likelihood(theta, self._in_units, sample, self._with_mean).centre
        return self.take(theta, centre * self._deviation)

    def take(self, theta: Floats, centre: float) -> Hyperparameters:
        """Set the latest hyperparameters, in the form of `latest`, and the mean's rise, and return them."""
        self.latest = theta
        kernel = self._kernel.clone_with_theta(theta[:-1] + self._shift)
        return Hyperparameters(kernel, math.exp(theta[-1]) * self._variance, centre)

    def _descend(self, start: Floats, sample: Sample) -> tuple[Floats, float]:
        try:
            end = minimize(self._loss, start, (sample,), "L-BFGS-B", True, bounds=self._bounds)
        except (ArithmeticError, ValueError):  # raised by kernels outside their domain
            return start, math.inf
        return end.x, float(end.fun) if np.isfinite(end.fun) else math.inf

    def _loss(self, theta: Floats, sample: Sample) -> tuple[float, Floats]:
        loss, slopes = negative_log_likelihood(theta, self._in_units, sample, self._with_mean)
        more, steeper = self._prior(theta)
        return loss + more, slopes + steeper

    def _clip(self, theta: Floats) -> Floats:
        return np.clip(theta, self._bounds[:, 0], self._bounds[:, 1])
