"""The posterior of a surrogate at its points and on a box, and the improvement that a search climbs."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg.blas import dtrsm  # type: ignore[attr-defined]
from scipy.linalg.lapack import dpotrs, dtrtrs  # type: ignore[attr-defined]

from bandit_envs.basics.types import Floats, Ints

from ..acquisition.improvement import improvement_climbed, log_augmentation, log_expected_improvement
from .priors import Parameters
from .surrogate import JITTER, PointValues, Surrogate, factor, squared_distances


class Predicted(NamedTuple):
    """What is known of some points, (n,) each."""

    mean: Floats
    known: Floats  # variance from delivered values
    variance: Floats  # with pending plays, whose values are their expectation


def joined(some: Predicted, others: Predicted) -> Predicted:
    """Return what is known of both."""
    return Predicted(*map(np.append, some, others))


class SurrogatePosterior:
    """The posterior of a surrogate under some hyperparameters, given values."""

    def __init__(self, surrogate: Surrogate, theta: Floats, seen: PointValues):
        self.surrogate, self.theta, self.seen = surrogate, theta, seen
        self.noise = surrogate.noises(theta, seen)
        within = surrogate.covariance(theta, seen.point, seen.point)
        jitter = JITTER * math.exp(theta[surrogate.parameters.number])
        self.upper, failed = factor(within, self.noise / seen.weight + jitter)
        if failed:
            raise ArithmeticError("the covariance of the values has no factor")
        solved = dpotrs(self.upper, np.column_stack([np.ones(len(seen.point)), seen.mean]), lower=0)[0]
        self.ones, self.precision = solved[:, 0], solved[:, 0].sum() + surrogate.prior.mean_precision
        self.centre = solved[:, 1].sum() / self.precision
        self.alpha = solved[:, 1] - self.centre * solved[:, 0]

    def at(self, points: Ints, pending: Ints | None = None) -> Predicted:
        """Return what is known of some points, (n,)."""
        across = self.surrogate.covariance(self.theta, self.seen.point, points)
        mean, (half, rest) = self.centre + self.alpha @ across, self.halves(across)
        known = self.surrogate.variance(self.theta, points) - np.square(half).sum(axis=0)
        known = np.maximum(known + rest**2 / self.precision, 0.0)
        if pending is None or not len(pending):
            return Predicted(mean, known, known)
        less = self._explained(half, rest, points, pending)
        return Predicted(mean, known, np.maximum(known - less, 0.0))

    def noise_at(self, points: Ints) -> Floats:
        """Return the noise variance of one more play of each point, (n,)."""
        order = np.argsort(self.seen.point)
        place = order[np.searchsorted(self.seen.point, points, sorter=order) % len(order)]
        return np.where(self.seen.point[place] == points, self.noise[place], self.surrogate.noise(self.theta))

    def halves(self, across: Floats) -> tuple[Floats, Floats]:
        """Return L^-1 k and 1 - 1'C^-1 k of points, (u, n) and (n,)."""
        # From the right, as rows of C are columns of LAPACK: nothing is copied.
        return dtrsm(1.0, self.upper, across.T, side=1).T, 1.0 - self.ones @ across

    def _explained(self, half: Floats, rest: Floats, points: Ints, pending: Ints) -> Floats:
        """Return by how much pending plays lower the variance, (n,)."""
        own, mine = self.halves(self.surrogate.covariance(self.theta, self.seen.point, pending))
        cross = self.surrogate.covariance(self.theta, pending, points) - own.T @ half
        cross += np.multiply.outer(mine, rest) / self.precision
        within = self.surrogate.covariance(self.theta, pending, pending) - own.T @ own
        within += np.multiply.outer(mine, mine) / self.precision
        upper, failed = factor(within, self.noise_at(pending))
        return np.zeros(len(points)) if failed else np.square(dtrtrs(upper, cross, trans=1)[0]).sum(axis=0)


LEAST_VARIANCE = 1e-20  # of the amplitude, under a root


class MomentsAt(NamedTuple):
    """Mean and variance of t at n points of a box, with what their slopes are made of."""

    mean: Floats  # (n,)
    variance: Floats  # (n,)
    square: Floats  # (u, n) r^2
    half: Floats  # (u, n) L^-1 k
    rest: Floats  # (n,) 1 - 1'C^-1 k


class BoxPosterior:
    """The posterior between the points of a surrogate of numbers, without data sets or a linear part.

    `earlier` are `EarlierTasks`, or None.
    """

    def __init__(self, posterior: SurrogatePosterior, earlier: Any = None):
        self.posterior, self._earlier, surrogate = posterior, earlier, posterior.surrogate
        self.scale = surrogate.scales(posterior.theta)
        self.amplitude = surrogate.amplitude(posterior.theta)
        self._played = surrogate.parameters.columns[posterior.seen.point] * self.scale  # (u, D)
        self._norms = np.square(self._played).sum(axis=1)
        if earlier is not None:
            assert surrogate.earlier is not None
            self._seen_means = surrogate.earlier[posterior.seen.point]  # (u, J)

    def mean(self, points: Floats) -> Floats:
        """Return means at points in [0, 1]^D, (n, D) -> (n,)."""
        across = self.amplitude * self.posterior.surrogate.shape.value(self._square(points))
        if self._earlier is not None:
            across += self._seen_means @ self._earlier.means(points).T
        return self.posterior.centre + self.posterior.alpha @ across

    def _square(self, points: Floats) -> Floats:
        return squared_distances(self._played, points * self.scale, self._norms)

    def at(self, points: Floats) -> MomentsAt:
        """Return what is known of points in [0, 1]^D, (n, D)."""
        known = self.posterior
        square = self._square(points)
        across, prior = self.amplitude * known.surrogate.shape.value(square), self.amplitude
        if self._earlier is not None:
            means = self._earlier.means(points)
            across += self._seen_means @ means.T
            prior = prior + np.square(means).sum(axis=1)
        half, rest = known.halves(across)
        variance = prior - np.einsum("un,un->n", half, half) + rest**2 / known.precision
        least = LEAST_VARIANCE * self.amplitude
        return MomentsAt(known.centre + known.alpha @ across, np.maximum(variance, least), square, half, rest)

    def slopes(self, points: Floats, found: MomentsAt, of_mean: Floats, of_variance: Floats) -> Floats:
        """Return slopes of a function of mean and variance, (n, D), from its derivatives, (n,) each.

        dk / dx = -a s(r^2) (x - x_i) / l^2, s being minus twice the slope of the correlation in r^2.
        """
        known = self.posterior
        back = dtrtrs(known.upper, found.half, trans=0)[0]  # C^-1 k
        weight = known.alpha[:, None] * of_mean - 2.0 * back * of_variance
        weight -= 2.0 * known.ones[:, None] * (found.rest / known.precision * of_variance)
        more = 0.0
        if self._earlier is not None:
            means = self._earlier.means(points).T
            more = self._earlier.slopes(points, self._seen_means.T @ weight + 2.0 * means * of_variance)
        weight *= -self.amplitude * known.surrogate.shape.slope(found.square)
        own = (weight.sum(axis=0)[:, None] * points * self.scale - weight.T @ self._played) * self.scale
        return own + more


def log_improvement(gap: Floats, variance: Floats, noise: float) -> Floats:
    """Return log E[(gap + s Z)+], s^2 = variance, with noise augmented, (n,) of the same shape."""
    scores = log_expected_improvement(gap, np.sqrt(variance))
    return scores + log_augmentation(variance, noise)[0] if noise else scores


class ImprovementSurface:
    """log E[(t(x) - t*)+] on a box, with noise augmented, as a search reads it.

    Args:
        best: t*.
        low, span: the box, (d,).
        noise: its variance, in the unit of t; 0 where values are exact.
    """

    unit = 1.0  # of the scores

    def __init__(self, on_box: BoxPosterior, best: float, low: Floats, span: Floats, noise: float = 0.0):
        self._on_box, self._best, self._low, self._span = on_box, best, low, span
        self._noise = noise

    @property
    def rows(self) -> int:
        """Number of points whose covariances the std is computed from."""
        return len(self._on_box.posterior.seen.point)

    def _unit(self, arms: Floats) -> Floats:
        return (arms - self._low) / self._span

    def scores(self, arms: Floats) -> Floats:
        """Return scores, (n, d) -> (n,)."""
        found = self._on_box.at(self._unit(arms))
        return log_improvement(found.mean - self._best, found.variance, self._noise)

    def climb(self, arms: Floats) -> tuple[Floats, Floats]:
        """Return scores and slopes, (n, d) -> (n,) and (n, d)."""
        points = self._unit(arms)
        found = self._on_box.at(points)
        std = np.sqrt(found.variance)
        scores, in_gap, in_std = improvement_climbed(found.mean - self._best, std)
        in_variance = in_std / (2.0 * std)
        if self._noise:
            more, slope = log_augmentation(found.variance, self._noise)
            scores, in_variance = scores + more, in_variance + slope
        return scores, self._on_box.slopes(points, found, in_gap, in_variance) / self._span


class MeanSurface(ImprovementSurface):
    """The posterior mean of t on a box."""

    def scores(self, arms: Floats) -> Floats:
        return self._on_box.at(self._unit(arms)).mean

    def climb(self, arms: Floats) -> tuple[Floats, Floats]:
        points = self._unit(arms)
        found = self._on_box.at(points)
        one = np.ones(len(points))
        return found.mean, self._on_box.slopes(points, found, one, 0.0 * one) / self._span


class NearSurface:
    """Minus the squared distance from a point, so that a search returns the nearest one that is allowed."""

    unit, rows = 1.0, 0

    def __init__(self, point: Floats, span: Floats):
        self._point, self._span = point, span

    def scores(self, arms: Floats) -> Floats:
        """Return scores, (n, d) -> (n,)."""
        return -np.square((arms - self._point) / self._span).sum(axis=1)

    def climb(self, arms: Floats) -> tuple[Floats, Floats]:
        """Return scores and slopes, (n, d) -> (n,) and (n, d)."""
        return self.scores(arms), -2.0 * (arms - self._point) / self._span**2


class LevelSurface:
    """A surface on which all points are equal: a search then returns points that cover the box."""

    unit, rows = 1.0, 0

    def scores(self, arms: Floats) -> Floats:
        """Return zeros, (n, d) -> (n,)."""
        return np.zeros(len(arms))

    def climb(self, arms: Floats) -> None:
        """Return that there are no slopes."""


def with_pending(posterior: SurrogatePosterior, pending: Ints) -> SurrogatePosterior:
    """Return the posterior where pending plays had the values expected of them: its mean is the same."""
    return with_values(posterior, pending, posterior.at(pending).mean) if len(pending) else posterior


def with_values(posterior: SurrogatePosterior, points: Ints, values: Floats) -> SurrogatePosterior:
    """Return the posterior where one more play of each of some points had a value, (n,)."""
    seen, one = posterior.seen, np.ones(len(points))
    more = [np.append(seen.point, points), np.append(seen.plays, one), np.append(seen.mean, values)]
    more += [np.append(seen.squares, 0.0 * one), np.append(seen.weight, one)]
    return SurrogatePosterior(posterior.surrogate, posterior.theta, type(seen)(*more))


def best_mean(posterior: SurrogatePosterior) -> float:
    """Return the largest posterior mean of the points seen: t - D C^-1 (t - m), D the noise there."""
    jitter = JITTER * posterior.surrogate.amplitude(posterior.theta)
    noise = posterior.noise / posterior.seen.weight + jitter
    return float((posterior.seen.mean - noise * posterior.alpha).max())


def on(surrogate: Surrogate, columns: Floats, earlier: Any = None) -> Surrogate:
    """Return the surrogate of numbers on other points, (N, D)."""
    means = None if earlier is None else earlier.means(columns)
    return replace(surrogate, parameters=Parameters.of_numbers(columns), earlier=means)
