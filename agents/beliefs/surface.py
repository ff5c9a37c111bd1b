r"""The posterior anywhere on a box, its derivatives, and worlds with sampled values of the best plays.

With v(x) = L^-1 k(X, x), a = L'^-1 L^-1 (b / n) and c(x) = L'^-1 v(x),

    mu = m + k(x, X) a,    var = k(x, x) - v'v,    dmu = dk(x, X) a,    dvar = dk(x, x) - 2 dk(x, X) c.

The values f(P) of m plays are normal given all observations, with mean mu_P and covariance C = R R'. World s
draws f_s = mu_P + R z_s. With these values as m more rows, free of noise, the factor of the plays becomes

    L+ = [L 0; v_P' R],    v+(x) = L+^-1 [k(X, x); k(P, x)] = [v(x); u(x)],
    mu_s(x) = mu(x) + u(x)'z_s,    var(x) = sigma^2(x) - u(x)'u(x).

So the worlds share their std, and are one surface whose mean has S sets of weights, each those of mu(x) and
L+'^-1 [0; z_s]. The mean over worlds of the improvement on max f_s is noisy expected improvement (Letham,
Karrer, Ottoni & Bakshy 2019, Constrained Bayesian optimization with noisy experiments, section 4).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np
from scipy.linalg import get_lapack_funcs
from scipy.special import ndtri

from bandit_envs.basics.types import Floats, Ints

from ..kernels.slopes import Linearised, linearise, prior_variance
from ..posteriors import Posterior
from ..posteriors.memory import ForgettingPosterior
from ..posteriors.pairs import PairPosterior
from ..posteriors.play_factor import Factor, PlayFactor
from .base import Belief, Shift

ONLY = 0  # index of the single trial of an agent on a box
JITTER = 1e-8  # of the largest posterior variance of the points: the precision of a sampled value
LEAST_JITTER = 1e-12  # of the prior variance, against rounding in a posterior covariance
LEAST_STD = 1e-10  # of the prior std: a smaller std has slope 0
LEAST_SHARE = 1e-16  # in place of 0, whose normal quantile is infinite
NUM_WORLDS = 16
(_trtrs,) = get_lapack_funcs(("trtrs",), dtype=np.float64)


class Local(NamedTuple):
    """The belief at n points, in S worlds that differ in the mean alone, and its derivatives."""

    mean: Floats  # (S, n)
    std: Floats  # (n,)
    gradient: Callable[[Floats, Floats], Floats]  # ds/dmean (S, n), ds/dstd (n,) -> ds/dx, (n, D)


class Means(NamedTuple):
    """Points and weights of a mean, or of the means of S worlds."""

    features: Floats  # (k, D)
    weights: Floats  # (k,) or (S, k)


@dataclass(eq=False)
class Surface:
    """Mean, std and their derivatives for one trial's belief; O(k^2) a point under k plays.

    There may be S beliefs, equally likely worlds, that share the std; a belief by itself is one world.
    """

    kernel: Any
    mean_factor: Factor | NoiseFree | Means  # the plays that determine the mean
    std_factor: Factor | NoiseFree  # the plays that determine the std
    prior_mean: float
    delivered: Factor | None = None  # the plays with delivered values, where the mean has more
    noise: float = 0.0  # added to the variance, 0 for the std of the function itself
    _variance: float | None = None  # of the prior, once known to be the same everywhere

    @property
    def observed(self) -> Factor:
        """The plays with delivered values."""
        return cast(Factor, self.mean_factor) if self.delivered is None else self.delivered

    @classmethod
    def of(cls, belief: Belief, known: bool = False) -> Surface:
        """Return the surface of a belief on a box, of one trial; raise a ValueError if it kept no plays.

        Args:
            known: True for the posterior of the delivered values alone, without pending plays and noise.
        """
        if known:
            given = belief.known()
            factor = keeping_plays(given.posterior).factor(ONLY)
            mean = float(np.ravel(given.prior_mean)[0])
            return cls(given.posterior.gram.kernel, factor, factor, mean)
        posterior, std_factor = keeping_plays(belief.mean_posterior), keeping_plays(belief.std_posterior)
        mean = float(np.ravel(belief.given_mean)[0])
        noise, plays = float(belief.noise_of(belief.rows)[ONLY]), posterior.factor(ONLY)
        shift = belief.shift(ONLY)
        moved = plays if shift is None else _moved(posterior, plays, shift)
        return cls(posterior.gram.kernel, moved, std_factor.factor(ONLY), mean, delivered=plays, noise=noise)

    def mean(self, x: Floats) -> Floats:
        """Return the posterior mean in the only world, (n, D) -> (n,); O(k) a point."""
        factor = self.mean_factor
        return self.prior_mean + linearise(self.kernel, x, factor.features).values @ factor.weights

    def predict(self, x: Floats) -> tuple[Floats, Floats]:
        """Return the posterior mean in the first world, and the std, (n, D) -> (n,) each."""
        local = self.local(x)
        return local.mean[0], local.std

    def local(self, x: Floats) -> Local:
        """Return the posterior mean and std with their derivatives, (n, D)."""
        of_std = linearise(self.kernel, x, self.std_factor.features)
        shared = self.std_factor is self.mean_factor
        of_mean = of_std if shared else self._of_mean(x, of_std)
        explained = self.std_factor.solve(of_std.values.T)  # v, (k, n)
        prior, prior_slope = self._prior(x)
        least = LEAST_STD * np.sqrt(prior.max(initial=0.0))
        variance = np.maximum(prior - np.einsum("kn,kn->n", explained, explained), 0.0)
        std = np.sqrt(variance + self.noise)
        weights = np.atleast_2d(self.mean_factor.weights)

        def gradient(of_mean_slope: Floats, of_std_slope: Floats) -> Floats:
            per_std = np.divide(of_std_slope, std, out=np.zeros_like(std), where=std > least)
            toward = -per_std * self.std_factor.back(explained)  # (k, n)
            through_mean = of_mean_slope.T @ weights
            if shared:
                slope = of_mean.gradient(through_mean + toward.T)
            else:
                slope = of_mean.gradient(through_mean) + of_std.gradient(toward.T)
            return slope if prior_slope is None else slope + (per_std / 2.0)[:, None] * prior_slope

        return Local(self.prior_mean + weights @ of_mean.values.T, std, gradient)

    def _of_mean(self, x: Floats, of_std: Linearised) -> Linearised:
        """Return the kernel at the plays of the mean, often those of the std, or the first of them."""
        mean_factor, std_factor = self.mean_factor, self.std_factor
        if isinstance(mean_factor, PlayFactor) and mean_factor.leads(std_factor):
            if mean_factor.used == of_std.values.shape[1]:
                return of_std
            values = of_std.values[:, : mean_factor.used]
            return Linearised(
                values, lambda weight: linearise(self.kernel, x, mean_factor.features).gradient(weight)
            )
        same = np.array_equal(std_factor.features, mean_factor.features)
        return of_std if same else linearise(self.kernel, x, mean_factor.features)

    def _prior(self, x: Floats) -> tuple[Floats, Floats | None]:
        """Return `prior_variance`, which scikit-learn computes slowly; its slope may be None, which is 0."""
        if self._variance is not None:
            return np.full(len(x), self._variance), None
        variance, slope = prior_variance(self.kernel, x)
        if len(x) and self.kernel.is_stationary():
            self._variance = variance[0]
        return variance, slope

    def weight_norm(self, x: Floats) -> Floats:
        """Return |a_x| of the delivered values, (n, D) -> (n,); O(k^2) a point."""
        values = linearise(self.kernel, x, self.observed.features).values
        return self.observed.weight_norm(self.observed.solve(values.T))

    def explain(self, x: Floats) -> Floats:
        """Return v(x) of the plays that determine the std, (n, D) -> (k, n)."""
        return self.std_factor.solve(linearise(self.kernel, x, self.std_factor.features).values.T)


def jitter_of(surface: Surface, x: Floats, covariance: Floats) -> float:
    """Return what is added to the diagonal of a posterior covariance of points at first."""
    prior = float(np.max(surface.kernel.diag(x)))
    return max(JITTER * float(covariance.diagonal().max()), LEAST_JITTER * prior)


def _moved(posterior: Posterior, plays: Factor, shift: Shift) -> Means:
    """Return the points and weights of mu + S[:, P] c: c at P, and a - L'^-1 L^-1 k(X, P) c at the plays."""
    features = posterior.gram.points[shift.point]
    explained = plays.solve(linearise(posterior.gram.kernel, features, plays.features).values.T)  # (k, p)
    weights = plays.weights - plays.back(explained @ shift.weight)
    return Means(np.vstack([plays.features, features]), np.concatenate([weights, shift.weight]))


def keeping_plays(posterior: Posterior) -> PairPosterior | ForgettingPosterior:
    """Return the posterior itself, or raise a ValueError if it keeps a table of points instead of plays."""
    if not isinstance(posterior, PairPosterior | ForgettingPosterior):
        raise ValueError(
            f"belief must keep its plays on a box, got one on {type(posterior).__name__}; make its posterior "
            "with agents.beliefs.base.make_posterior, or take ForgettingPosterior"
        )
    return posterior


class Worlds(NamedTuple):
    """Equally likely beliefs with the value to improve on in each."""

    surface: Surface
    best: Floats  # (S,)


class NoiseFree:
    """Factor L+ of k plays and of m values at P, (m, D), known without noise, with their part of the mean.

    Points of P that were played have no features of their own: their covariances are those of the plays.
    """

    def __init__(self, surface: Surface, x: Floats, white: Floats):
        self._plays, explained = surface.std_factor, surface.explain(x)  # L and v_P
        covariance = linearise(surface.kernel, x, x).values - explained.T @ explained
        root = np.linalg.cholesky(covariance + jitter_of(surface, x, covariance) * np.eye(len(x)))
        self._known = len(explained)
        self.features, place = _joined(self._plays.features, x)  # (k', D)
        rest = np.zeros((len(x), len(self.features)))  # k(P, .) - v_P'v from the covariances
        rest[:, : self._known] -= self._plays.back(explained).T
        rest[np.arange(len(x)), place] += 1.0
        self._rows = _trtrs(root.T, rest, lower=0, trans=1)[0]  # u from the covariances, (m, k')
        self.values = surface.mean(x) + white @ root.T  # f_s, (S, m)
        self.weights = white @ self._rows  # (S, k')

    def solve(self, values: Floats) -> Floats:
        """Return v+ from the covariances with the features, (k', n) -> (k + m, n)."""
        explained = self._plays.solve(values[: self._known])
        return np.concatenate([explained.T, values.T @ self._rows.T], axis=1).T

    def back(self, values: Floats) -> Floats:
        """Return the weights of these covariances in b'v+, (k + m, n) -> (k', n)."""
        weights = values[self._known :].T @ self._rows
        weights[:, : self._known] += self._plays.back(values[: self._known]).T
        return weights.T


def _joined(plays: Floats, x: Floats) -> tuple[Floats, Ints]:
    """Return the plays followed by those of some distinct points that are none, and the row of each point."""
    row = {play.tobytes(): i for i, play in enumerate(plays)}
    place = np.array([row.get(point.tobytes(), -1) for point in x])
    new = place < 0
    place[new] = len(plays) + np.arange(np.count_nonzero(new))
    return np.vstack([plays, x[new]]), place


def fantasies(surface: Surface, x: Floats, white: Floats) -> Worlds:
    """Return the worlds of a belief for distinct P, (m, D), and z, (S, m); O(k^2 + S k) a point."""
    factor, centre = NoiseFree(surface, x, white), surface.mean_factor
    means: NoiseFree | Means = factor
    if centre is surface.std_factor:  # the mean's rows are among the factor's
        factor.weights[:, : len(centre.weights)] += centre.weights
    else:
        own = np.broadcast_to(centre.weights, (len(white), len(centre.features)))
        features = np.vstack([centre.features, factor.features])
        means = Means(features, np.hstack([own, factor.weights]))
    given = surface.prior_mean, surface.observed, surface.noise
    return Worlds(Surface(surface.kernel, means, factor, *given), factor.values.max(axis=1))


def normal_points(dim: int, count: int, rng: np.random.Generator) -> Floats:
    """Return standard normal points, (count, dim): a Latin hypercube, one point in each share of an axis.

    With so few points Sobol's sequence would repeat values in the later of many dimensions.
    """
    strata = rng.permuted(np.tile(np.arange(count)[:, None], dim), axis=0)
    return ndtri(np.maximum((strata + rng.random((count, dim))) / count, LEAST_SHARE))
