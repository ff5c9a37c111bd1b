"""The learnt model of one quantity: its prior over hyperparameters and its loss; see also `posterior`.

Of a point (x, c), c its data set where contexts are data sets,

    k = a [M(r) + b (4 / D) (x - 1/2)'(x' - 1/2)] (rho + (1 - rho) [c = c']) + v [c = c'] + e(x)'e(x'),
    r^2 = sum_p D_p / l_p^2,

e being what earlier tasks tell, see `earlier`,
with a constant mean m ~ N(0, 1 / pi). u points have n_i plays each, with mean t_i and squares S_i around it.
The noise variance of point i is the posterior mean under an inverse gamma prior of weight 4 around the common
one,

    s_i = (4 noise + S_i) / (3 + n_i),      C = K + diag(s_i / w_i),    w_i = n_i unless noise is stated,

so that one arm that varies much does not make all seem noisy. With m = 1'C^-1 t / (1'C^-1 1 + pi) the loss is

    1/2 (t - m)'C^-1 (t - m) + 1/2 logdet C + pi m^2 / 2 + 1/2 sum_j ((theta_j - theta_j0) / spread_j)^2
    + sum_{n_i > 1} [(3 + n_i) / 2 log(4 noise + S_i) - 2 log noise].
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs  # type: ignore[attr-defined]

from bandit_envs.basics.types import Floats, Ints

from .priors import HyperPrior, Parameters

WEIGHT = 4.0  # plays that the common noise counts as
JITTER = 1e-10  # of the amplitude
FAR = 60.0  # exponent, beyond which a correlation counts as exp(-60)


class Correlation(NamedTuple):
    """A correlation M(r), and -2 dM/d(r^2), of squared distances."""

    value: Callable[[Floats], Floats]
    slope: Callable[[Floats], Floats]


def _root(square: Floats) -> Floats:
    """Return roots, at most `FAR`: smaller correlations are of no effect, but denormal and slow."""
    r = np.sqrt(square)
    return np.minimum(r, FAR, out=r)


def _matern52(square: Floats) -> Floats:
    r = _root(5.0 * square)
    found = r * r
    found /= 3.0
    found += r
    found += 1.0
    found *= np.exp(-r)
    return found


def _matern52_slope(square: Floats) -> Floats:
    r = _root(5.0 * square)
    return 5.0 / 3.0 * (1.0 + r) * np.exp(-r)


def _matern32(square: Floats) -> Floats:
    r = _root(3.0 * square)
    return (1.0 + r) * np.exp(-r)


def _matern32_slope(square: Floats) -> Floats:
    return 3.0 * np.exp(-_root(3.0 * square))


def _rbf(square: Floats) -> Floats:
    return np.exp(-np.minimum(0.5 * square, FAR))


SHAPES = {
    "matern52": Correlation(_matern52, _matern52_slope),
    "matern32": Correlation(_matern32, _matern32_slope),
    "rbf": Correlation(_rbf, _rbf),
}


class PointValues(NamedTuple):
    """Values at u points, in the model's unit: points, plays n, means t, squares S, weights w."""

    point: Ints
    plays: Floats
    mean: Floats
    squares: Floats
    weight: Floats  # sums of the plays' weights, n unless their noise is stated

    def latest(self, number: int) -> PointValues:
        """Return those of so many points, the last first seen."""
        each = self.plays, self.mean, self.squares, self.weight
        return PointValues(self.point[-number:], *(part[-number:] for part in each))


class CovarianceTerms(NamedTuple):
    """The covariance of u points, and the terms that its slopes are made of."""

    scaled: Floats  # (u, D) columns over length-scales
    square: Floats  # (u, u) r^2
    amplitude: float  # a
    together: Floats  # (u, u) a [M + b ...]
    line: Floats | float  # its linear part
    between: Floats | float  # rho + (1 - rho) [c = c']
    same: Floats | None  # [c = c']; None without data sets
    covariance: Floats


@dataclass(eq=False)
class Surrogate:
    """The Gaussian process over the points of a problem, under a prior of its hyperparameters."""

    parameters: Parameters
    prior: HyperPrior
    weight: float = WEIGHT  # plays that the common noise counts as
    earlier: Floats | None = None  # (N, J) e at the points
    shape: Correlation = field(init=False)

    def __post_init__(self) -> None:
        self.shape = SHAPES[self.prior.shape]

    def scales(self, theta: Floats) -> Floats:
        """Return 1 / l of each column, (D,)."""
        return np.exp(-theta[self.parameters.owner])

    def noise(self, theta: Floats) -> float:
        """Return the common noise variance."""
        return math.exp(theta[self.parameters.number + 1])

    def noises(self, theta: Floats, seen: PointValues) -> Floats:
        """Return s, the noise variance of one play at each point, (u,)."""
        return (self.weight * self.noise(theta) + seen.squares) / (self.weight - 1.0 + seen.plays)

    def amplitude(self, theta: Floats) -> float:
        """Return a."""
        return math.exp(theta[self.parameters.number])

    def covariance(self, theta: Floats, one: Ints, other: Ints) -> Floats:
        """Return k between points, (n,) and (m,) -> (n, m)."""
        scale, columns = self.scales(theta), self.parameters.columns
        square = squared_distances(columns[one] * scale, columns[other] * scale)
        found = self.shape.value(square)
        if self.prior.linear:
            found += math.exp(theta[-1]) * self._linear(one, other)
        found *= math.exp(theta[self.parameters.number])
        if self.parameters.num_data_sets > 1:
            own, shared = self._of_data_sets(theta)
            same = self._same(one, other)
            found *= shared + (1.0 - shared) * same
            found += own * same
        return found if self.earlier is None else found + self.earlier[one] @ self.earlier[other].T

    def variance(self, theta: Floats, points: Ints) -> Floats:
        """Return k(x, x), (n,)."""
        found = np.ones(len(points))
        if self.prior.linear:
            centred = self.parameters.columns[points] - 0.5
            found += math.exp(theta[-1]) * 4.0 / max(centred.shape[1], 1) * np.square(centred).sum(axis=1)
        found *= math.exp(theta[self.parameters.number])
        if self.parameters.num_data_sets > 1:
            found += self._of_data_sets(theta)[0]
        return found if self.earlier is None else found + np.square(self.earlier[points]).sum(axis=1)

    def loss(self, theta: Floats, seen: PointValues) -> tuple[float, Floats]:
        """Return the loss and its slopes, (p,); infinite where the covariance has no factor."""
        noise, terms = self.noise(theta), self._terms(theta, seen.point)
        shrunk = self.noises(theta, seen)
        upper, failed = factor(terms.covariance, shrunk / seen.weight + JITTER * terms.amplitude)
        if failed:
            return math.inf, np.zeros(len(theta))
        solved = dpotrs(upper, np.column_stack([np.ones(len(shrunk)), seen.mean]), lower=0)[0]
        mean = solved[:, 1].sum() / (solved[:, 0].sum() + self.prior.mean_precision)
        alpha = solved[:, 1] - mean * solved[:, 0]
        loss = 0.5 * (seen.mean - mean) @ alpha + np.log(upper.diagonal()).sum()
        loss += 0.5 * self.prior.mean_precision * mean**2
        gradient = _inverse(upper)
        gradient -= np.multiply.outer(alpha, alpha)
        gradient *= 0.5  # dL = sum gradient dC
        slopes = self._slopes(theta, terms, gradient)
        own = gradient.diagonal() * self.weight * noise / ((self.weight - 1.0 + seen.plays) * seen.weight)
        more, steeper = _of_repeated(noise, seen, self.weight)
        slopes[self.parameters.number + 1] = own.sum() + steeper
        gap = (theta - self.prior.centre) / self.prior.spread
        return float(loss + more + 0.5 * gap @ gap), slopes + gap / self.prior.spread

    def _terms(self, theta: Floats, point: Ints) -> CovarianceTerms:
        """Return the covariance of points and what its slopes need."""
        scaled = self.parameters.columns[point] * self.scales(theta)
        square = squared_distances(scaled, scaled)
        amplitude = math.exp(theta[self.parameters.number])
        together, line = amplitude * self.shape.value(square), 0.0
        if self.prior.linear:
            line = amplitude * math.exp(theta[-1]) * self._linear(point, point)
            together = together + line
        of_earlier = 0.0 if self.earlier is None else self.earlier[point] @ self.earlier[point].T
        covariance, between, same = together, 1.0, None
        if self.parameters.num_data_sets > 1:
            same, (own, shared) = self._same(point, point), self._of_data_sets(theta)
            between = shared + (1.0 - shared) * same
            covariance = together * between + own * same
        covariance = covariance + of_earlier
        return CovarianceTerms(scaled, square, amplitude, together, line, between, same, covariance)

    def _slopes(self, theta: Floats, terms: CovarianceTerms, gradient: Floats) -> Floats:
        """Return the slopes of all but the noise, from dL / dC, (u, u) -> (p,)."""
        count, slopes = self.parameters.number, np.empty(len(theta))
        both = gradient * terms.between
        weight = both * self.shape.slope(terms.square)
        weight *= terms.amplitude
        # dM/dlog l_p = slope D_p / l_p^2, and sum_ij G_ij (z_i - z_j)^2 in matrix products.
        scaled = terms.scaled
        each = 2.0 * (weight.sum(axis=1) @ np.square(scaled) - ((weight @ scaled) * scaled).sum(axis=0))
        slopes[:count] = self.parameters.sums(each)
        slopes[count] = (both * terms.together).sum() + JITTER * terms.amplitude * gradient.trace()
        if terms.same is not None:
            own, shared = self._of_data_sets(theta)
            apart = 1.0 - terms.same
            slopes[count + 2] = own * (gradient * terms.same).sum()
            slopes[count + 3] = shared * (1.0 - shared) * (gradient * terms.together * apart).sum()
        if self.prior.linear:
            slopes[-1] = (both * terms.line).sum()
        return slopes

    def standardised(self, theta: Floats, seen: PointValues, quieter: float) -> Callable[[Floats], float]:
        """Return the log-likelihood of values, (u,) -> number, whose scale is the likeliest one."""
        noise = quieter * self.noise(theta) / seen.weight + JITTER * math.exp(theta[self.parameters.number])
        upper, failed = factor(self.covariance(theta, seen.point, seen.point), noise)
        size = len(noise)
        if failed:
            return lambda values: -math.inf
        ones = dpotrs(upper, np.ones(size), lower=0)[0]
        determinant = np.log(upper.diagonal()).sum()

        def height(values: Floats) -> float:
            solved = dpotrs(upper, values, lower=0)[0]
            square = values @ solved - solved.sum() ** 2 / (ones.sum() + self.prior.mean_precision)
            return -0.5 * size * math.log(max(square, 1e-300) / size) - determinant

        return height

    def _linear(self, one: Ints, other: Ints) -> Floats:
        columns = self.parameters.columns - 0.5
        return 4.0 / max(columns.shape[1], 1) * columns[one] @ columns[other].T

    def _same(self, one: Ints, other: Ints) -> Floats:
        label = self.parameters.data_set
        return np.equal.outer(label[one], label[other]).astype(np.float64)

    def _of_data_sets(self, theta: Floats) -> tuple[float, float]:
        """Return v and rho."""
        count = self.parameters.number
        return math.exp(theta[count + 2]), 1.0 / (1.0 + math.exp(-theta[count + 3]))


def _of_repeated(noise: float, seen: PointValues, weight: float) -> tuple[float, float]:
    """Return what points with several plays add to the loss, and its slope in log noise."""
    again = seen.plays > 1.0
    shape, total = 0.5 * (weight - 1.0 + seen.plays[again]), weight * noise + seen.squares[again]
    loss = (shape * np.log(total) - 0.5 * weight * math.log(noise)).sum()
    return float(loss), float((shape * weight * noise / total - 0.5 * weight).sum())


def squared_distances(one: Floats, other: Floats, norms: Floats | None = None) -> Floats:
    """Return the squared distances of rows, (n, D) and (m, D) -> (n, m); `norms` are those of `one`, (n,)."""
    found = one @ (-2.0 * other.T)
    found += (np.square(one).sum(axis=1) if norms is None else norms)[:, None]
    found += np.square(other).sum(axis=1)
    return np.maximum(found, 0.0, out=found)


def factor(covariance: Floats, noise: Floats) -> tuple[Floats, int]:
    """Return U with U'U = K + diag(noise), and whether there is none."""
    covariance = covariance.copy()
    covariance.ravel()[:: len(noise) + 1] += noise
    return dpotrf(covariance.T, lower=0, clean=1, overwrite_a=1)


def _inverse(upper: Floats) -> Floats:
    half, _ = dpotri(upper.copy(order="F"), lower=0, overwrite_c=1)
    inverse = half + half.T
    inverse.ravel()[:: len(inverse) + 1] = half.diagonal()
    return inverse
