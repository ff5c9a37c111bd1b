"""How the values of a quantity are written for its model: unit, and a transform that tames tails.

A value y is z = (y - zero) / size, and t = T(z) is what the model is of. Means and stds in the unit of y are
taken back by quadrature or in closed form.
"""

from __future__ import annotations

import abc
import math
from collections.abc import Callable, Sequence

import numpy as np
from scipy.special import ndtr, ndtri

from bandit_envs.basics.arguments import require
from bandit_envs.basics.types import Floats

from .surrogate import PointValues

ALPHAS = (0.0, 1.0, 4.0, 16.0)
FEWEST = 8  # arms that tell of a distribution
STAYING, BENDING = 1.0, -0.5  # nats for the present alpha, and for every one but 0
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(9)
WEIGHTS = WEIGHTS / WEIGHTS.sum()
PLAYS_OF_PRIOR = 4.0  # arms that a published mean and variance count as
IQR = 1.35  # of a standard normal, in stds
KNEE = -1.5  # in units: below it values are compressed
CALM = 3.0  # variance of asinh costs, beyond which their mean would explode
QUIET = 2.0  # likewise of log prices
FARTHEST = 1e50  # units from zero at which values are cut off, so that no square overflows
STEEPEST = 150.0  # likewise of exponents
LARGEST = 1e140  # size of values whose squares are numbers

Height = Callable[[Floats], float]  # log-likelihood of values, (u,), whose scale is the likeliest one


def require_learnable(name: str, values: Floats) -> None:
    """Raise an error that names values whose squares are no numbers."""
    words = f"at most {LARGEST:g} in size; write it in another unit"
    require(not np.abs(values).max(initial=0.0) > LARGEST, name, words, values)


class Values(abc.ABC):
    """The unit and the transform of a quantity."""

    zero, size = 0.0, 1.0
    variance: float | None = None  # of a published model
    trusted = False  # while a published model is not refuted; it says what the unit is

    @abc.abstractmethod
    def learn(self, seen: PointValues, heights: Sequence[Height]) -> None:
        """Take unit and transform from arms' means; the transform only where `heights` judge it."""

    @abc.abstractmethod
    def bent(self, z: Floats) -> tuple[Floats, Floats]:
        """Return T(z) and its slope, (n,) each."""

    @abc.abstractmethod
    def moments(self, mean: Floats, variance: Floats) -> tuple[Floats, Floats]:
        """Return mean and variance of z where t is normal, (n,) each."""

    def transformed(self, seen: PointValues) -> PointValues:
        """Return values as the model has them; squares by the slope at the mean."""
        t, slope = self.bent(self.scaled(seen.mean))
        with np.errstate(over="ignore"):
            squares = np.minimum(seen.squares / self.size / self.size, FARTHEST**2)
        return seen._replace(mean=t, squares=squares * slope**2)

    def scaled(self, values: Floats) -> Floats:
        """Return z, (n,)."""
        with np.errstate(over="ignore"):
            return np.clip((values - self.zero) / self.size, -FARTHEST, FARTHEST)

    def _take(self, zero: float, square: float, means: Floats) -> None:
        """Take zero and squared size; a published variance counts as 4 arms, of mean 0."""
        if self.variance is not None:
            share = 0.0 if self.trusted else len(means) / (len(means) + PLAYS_OF_PRIOR)
            zero, square = share * zero, share * square + (1.0 - share) * self.variance
        self.zero, self.size = zero, math.sqrt(square) if square > 0.0 else usual_size(means)


def by_nodes(straight: Callable[[Floats], Floats], mean: Floats, variance: Floats) -> tuple[Floats, Floats]:
    """Return mean and variance of a function of a normal variable, by nine nodes of Gauss and Hermite."""
    z = straight(mean + np.sqrt(variance) * NODES[:, None])
    middle = WEIGHTS @ z
    return middle, WEIGHTS @ np.square(z - middle)


class Bent(Values):
    """Rewards: the unit is that of the better half, and the worse half may be on another scale.

    zero is the median of arms' means and size the root mean square of what lies above, so that neither a
    network that diverged nor a penalty sets the unit, and plays repeated of one arm do not drag it. Below
    zero t = -log(1 - alpha z) / alpha, with the alpha of the largest marginal likelihood, its Jacobian
    included. A published variance counts as 4 arms, of mean 0. Values of several contexts, whose levels
    differ, have mean and std as zero and size, and no transform.
    """

    def __init__(self, several: bool, variance: float | None, alphas: Sequence[float] = ALPHAS):
        self._several, self.variance, self._alphas = several, variance, alphas
        self.trusted = variance is not None
        self.alpha, self._least = 0.0, 0.0
        self.size = math.sqrt(variance or 1.0)

    def learn(self, seen: PointValues, heights: Sequence[Height]) -> None:
        means = seen.mean
        if self._several:
            zero, square = float(means.mean()), float(means.var())
        else:
            zero, square = above_median(means)
        self._take(zero, square, means)
        z = self.scaled(means)
        self._least = float(z.min()) - 1.0
        if heights and not self._several and len(z) >= FEWEST and self._least < -1.0:
            self.alpha = max(self._alphas, key=lambda alpha: self._height(alpha, z, heights))

    def _height(self, alpha: float, z: Floats, heights: Sequence[Height]) -> float:
        jacobian = -np.log1p(-alpha * np.minimum(z, 0.0)).sum()
        own = STAYING * (alpha == self.alpha) + BENDING * (alpha != 0.0)
        return float(max(each(_bent(z, alpha)) for each in heights) + jacobian + own)

    def bent(self, z: Floats) -> tuple[Floats, Floats]:
        return _bent(z, self.alpha), 1.0 / (1.0 - self.alpha * np.minimum(z, 0.0))

    def moments(self, mean: Floats, variance: Floats) -> tuple[Floats, Floats]:
        """Return mean and variance of z; values far below all that were seen count as a little below."""
        return by_nodes(self._straight, mean, variance) if self.alpha else (mean, variance)

    def _straight(self, t: Floats) -> Floats:
        lowest = float(_bent(np.array([self._least]), self.alpha)[0])
        low = -np.expm1(-self.alpha * np.clip(t, lowest, 0.0)) / self.alpha
        return np.where(t < 0.0, low, t)


class Converging(Bent):
    """Rewards of a search for the best point: `Bent`, but in stds around the mean where nothing is bent.

    The better half of the points of such a search ends beside the best one, and is no unit for the others.
    """

    def __init__(self) -> None:
        super().__init__(False, None)

    def learn(self, seen: PointValues, heights: Sequence[Height]) -> None:
        super().learn(seen, heights)
        if not self.alpha:
            self.zero, self.size = float(seen.mean.mean()), usual_size(seen.mean)


def _bent(z: Floats, alpha: float) -> Floats:
    return np.where(z < 0.0, -np.log1p(-alpha * np.minimum(z, 0.0)) / alpha, z) if alpha else z


def usual_size(means: Floats) -> float:
    """Return a unit where the better half does not differ: the std of all, else their size, else 1."""
    return float(means.std()) or float(np.abs(means).max()) or 1.0


class HalfRank(Values):
    """Rewards of which the worse half counts by rank alone (Song et al. 2024).

    Unit and median are those of `Bent`; a value below the median is the quantile of its rank under a normal
    law, so that no penalty and no heavy tail has a weight.
    """

    def __init__(self) -> None:
        self._z, self._t = np.array([-1.0, 0.0]), np.array([-1.0, 0.0])  # knots, ascending

    def learn(self, seen: PointValues, heights: Sequence[Height]) -> None:
        self._take(*above_median(seen.mean), seen.mean)
        z = np.sort(self.scaled(seen.mean))
        low, first = np.unique(z[z < 0.0], return_index=True)
        after = np.append(first[1:], (z < 0.0).sum())
        quantiles = ndtri(0.5 * (first + after) / len(z))  # of equal values the middle of their ranks
        self._z, self._t = np.append(low, 0.0), np.append(quantiles, 0.0)

    def bent(self, z: Floats) -> tuple[Floats, Floats]:
        """Return T(z), linear between values seen and constant below them, and its slope."""
        t = np.where(z < 0.0, np.interp(z, self._z, self._t), z)
        if len(self._z) == 1:
            return t, np.ones_like(z)
        place = np.clip(np.searchsorted(self._z, z), 1, len(self._z) - 1)
        slope = np.diff(self._t)[place - 1] / np.maximum(np.diff(self._z)[place - 1], 1.0 / FARTHEST)
        return t, np.where(z < 0.0, slope, 1.0)

    def moments(self, mean: Floats, variance: Floats) -> tuple[Floats, Floats]:
        return by_nodes(lambda t: np.where(t < 0.0, np.interp(t, self._t, self._z), t), mean, variance)


def above_median(means: Floats) -> tuple[float, float]:
    """Return the median, and the mean square of what lies above it."""
    zero = float(np.median(means))
    above = means[means > zero] - zero
    return zero, float(np.square(above).mean()) if len(above) else 0.0


class Compressed(Values):
    """Rewards beside costs: in robust stds, compressed far below the median, t = -1.5 - log(1 - 1.5 - z)."""

    def __init__(self, variance: float | None):
        self.variance, self._least = variance, 0.0
        self.size = math.sqrt(variance or 1.0)

    def learn(self, seen: PointValues, heights: Sequence[Height]) -> None:
        means = seen.mean
        low, middle, high = np.percentile(means, (25.0, 50.0, 75.0))
        square = max((high - low) / IQR, 0.3 * float(means.std())) ** 2
        self._take(float(middle), square, means)
        self._least = float(self.scaled(means).min()) - 1.0

    def bent(self, z: Floats) -> tuple[Floats, Floats]:
        below = np.maximum(KNEE - z, 0.0)
        return np.where(z < KNEE, KNEE - np.log1p(below), z), 1.0 / (1.0 + below)

    def moments(self, mean: Floats, variance: Floats) -> tuple[Floats, Floats]:
        return by_nodes(self._straight, mean, variance)

    def _straight(self, t: Floats) -> Floats:
        below = np.expm1(np.clip(KNEE - t, 0.0, math.log1p(max(KNEE - self._least, 0.0))))
        return np.where(t < KNEE, KNEE - below, t)


class Asinh(Values):
    """A limit's costs, kept where c <= 0: t = asinh(c / median |c|), so that neither tail hides the limit."""

    def __init__(self) -> None:
        self._most = math.inf

    def learn(self, seen: PointValues, heights: Sequence[Height]) -> None:
        self.size = float(np.median(np.abs(seen.mean))) or usual_size(seen.mean)
        self._most = float(np.abs(self.scaled(seen.mean)).max())

    def bent(self, z: Floats) -> tuple[Floats, Floats]:
        return np.arcsinh(z), 1.0 / np.sqrt(1.0 + z * z)

    def moments(self, mean: Floats, variance: Floats) -> tuple[Floats, Floats]:
        """Return mean and variance of z: of the sinh of a normal variable, in closed form."""
        v, m = np.minimum(variance, CALM), np.clip(mean, -STEEPEST, STEEPEST)
        return np.exp(0.5 * v) * np.sinh(m), 0.5 * np.expm1(v) * (np.exp(v) * np.cosh(2.0 * m) + 1.0)

    def excess(self, mean: Floats, variance: Floats) -> Floats:
        """Return E[c+] over the unit, at most the largest |c| seen, (n,)."""
        return np.clip(self._excess(mean, variance), 0.0, self._most)

    def _excess(self, mean: Floats, variance: Floats) -> Floats:
        v = np.minimum(variance, CALM)
        std = np.sqrt(np.maximum(v, 1e-12))
        up = np.exp(np.minimum(mean + 0.5 * v, 50.0)) * ndtr((mean + v) / std)
        down = np.exp(np.minimum(-mean + 0.5 * v, 50.0)) * ndtr((mean - v) / std)
        return 0.5 * (up - down)

    def excess_variance(self, mean: Floats, variance: Floats) -> Floats:
        """Return the variance of c+ over the unit, at most the square of the largest |c| seen, (n,)."""
        v = np.minimum(variance, CALM)
        std = np.sqrt(np.maximum(v, 1e-12))
        up = np.exp(np.minimum(2.0 * (mean + v), 100.0)) * ndtr((mean + 2.0 * v) / std)
        down = np.exp(np.minimum(2.0 * (v - mean), 100.0)) * ndtr((mean - 2.0 * v) / std)
        square = 0.25 * (up + down) - 0.5 * ndtr(mean / std)
        return np.clip(square - self._excess(mean, variance) ** 2, 0.0, self._most**2)


class Logarithm(Values):
    """Prices of plays: t = log(c / median c) where all are positive, else in stds."""

    logarithmic = True

    def learn(self, seen: PointValues, heights: Sequence[Height]) -> None:
        self.logarithmic = bool((seen.mean > 0.0).all())
        self.zero = 0.0 if self.logarithmic else float(seen.mean.mean())
        self.size = float(np.median(seen.mean)) if self.logarithmic else usual_size(seen.mean)

    def bent(self, z: Floats) -> tuple[Floats, Floats]:
        if not self.logarithmic:
            return z, np.ones_like(z)
        z = np.maximum(z, 1.0 / FARTHEST)
        return np.log(z), 1.0 / z

    def moments(self, mean: Floats, variance: Floats) -> tuple[Floats, Floats]:
        """Return mean and variance of z: e^{m + v/2}."""
        if not self.logarithmic:
            return mean, variance
        v = np.minimum(variance, QUIET)
        middle = np.exp(np.minimum(mean + 0.5 * v, STEEPEST))
        return middle, middle**2 * np.expm1(v)

    def quantile(self, mean: Floats, variance: Floats, stds: float) -> Floats:
        """Return the value some stds from the mean of t, in the quantity's unit, (n,)."""
        t = np.minimum(mean + stds * np.sqrt(np.minimum(variance, QUIET)), STEEPEST)
        return self.zero + self.size * (np.exp(t) if self.logarithmic else t)
