r"""Beliefs on a box given sampled noise-free values of the best plays, in S worlds.

The values f(P) of m plays are normal given all observations, with mean mu_P and covariance C = R R'. World s
draws f_s = mu_P + R z_s. With these values as m more rows, free of noise, the factor of the plays becomes

    L+ = [L 0; v_P' R],    v+(x) = L+^-1 [k(X, x); k(P, x)] = [v(x); u(x)],
    mu_s(x) = mu(x) + u(x)'z_s,    var(x) = sigma^2(x) - u(x)'u(x).

So the worlds share their std, and are one surface whose mean has S sets of weights, each those of mu(x) and
L+'^-1 [0; z_s]. The mean over worlds of the improvement on max f_s is noisy expected improvement (Letham,
Karrer, Ottoni & Bakshy 2019, Constrained Bayesian optimization with noisy experiments, section 4).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import get_lapack_funcs
from scipy.special import ndtri

from bandit_envs.basics.types import Floats

from ..beliefs.surface import Surface
from ..kernels.point_slopes import linearise

(_trtrs,) = get_lapack_funcs(("trtrs",), dtype=np.float64)

JITTER = 1e-8  # of the largest posterior variance at the plays
LEAST_JITTER = 1e-12  # of the prior variance, against rounding in a posterior covariance
LEAST_SHARE = 1e-16  # in place of 0, whose normal quantile is infinite


class Worlds(NamedTuple):
    """Equally likely beliefs with the value to improve on in each."""

    surface: Surface
    best: Floats  # (S,)


class NoiseFree:
    """Factor L+ of plays and of m values known without noise, with their part of the mean.

    Args:
        surface: the belief given the plays.
        x: P, (m, D).
        white: z, (S, m).
    """

    def __init__(self, surface: Surface, x: Floats, white: Floats):
        self._plays, self._explained = surface.spread, surface.explain(x)  # L and v_P
        self._root = _root(surface, x, self._explained)
        self.features = np.vstack([self._plays.features, x])  # (k + m, D)
        self.values = surface.mean(x) + white @ self._root.T  # f_s, (S, m)
        nothing = np.zeros((len(self._explained), len(white)))
        self.weights = self.back(np.vstack([nothing, white.T])).T  # (S, k + m)

    def solve(self, values: Floats) -> Floats:
        """Return L+^-1 b, (k + m, n) of the same shape."""
        old = len(self._explained)
        upper = self._plays.solve(values[:old])
        lower = self._triangular(values[old:] - self._explained.T @ upper, trans=1)
        return np.concatenate([upper.T, lower.T], axis=1).T

    def back(self, values: Floats) -> Floats:
        """Return L+'^-1 b, (k + m, n) of the same shape."""
        old = len(self._explained)
        lower = self._triangular(values[old:], trans=0)
        upper = self._plays.back(values[:old] - self._explained @ lower)
        return np.concatenate([upper.T, lower.T], axis=1).T

    def _triangular(self, values: Floats, trans: int) -> Floats:
        """Return R^-1 b or R'^-1 b; Fortran sees R as its transpose."""
        return _trtrs(self._root.T, values, lower=0, trans=trans)[0]


class Means(NamedTuple):
    """Points and weights of the means of S worlds."""

    features: Floats  # (k, D)
    weights: Floats  # (S, k)


def fantasies(surface: Surface, x: Floats, white: Floats) -> Worlds:
    """Return the worlds of a belief; their surface costs O(k^2 + S k) a point under k plays.

    Args:
        surface: the belief.
        x: P, distinct, (m, D).
        white: z, (S, m), see `normal_points`.
    """
    factor, centre = NoiseFree(surface, x, white), surface.centre
    best = factor.values.max(axis=1)
    if centre is surface.spread:  # the mean's rows are among the factor's
        factor.weights[:, : -len(x)] += centre.weights
        return Worlds(
            Surface(surface.kernel, factor, factor, surface.prior_mean, surface.observed, surface.noise), best
        )
    features = np.vstack([centre.features, factor.features])
    own = np.broadcast_to(centre.weights, (len(white), len(centre.features)))
    means = Means(features, np.hstack([own, factor.weights]))
    return Worlds(
        Surface(surface.kernel, means, factor, surface.prior_mean, surface.observed, surface.noise), best
    )


def normal_points(dim: int, count: int, rng: np.random.Generator) -> Floats:
    """Return standard normal points, (count, dim): a Latin hypercube, one point in each share of an axis.

    With so few points Sobol's sequence would repeat values in the later of many dimensions.
    """
    strata = rng.permuted(np.tile(np.arange(count)[:, None], dim), axis=0)
    return ndtri(np.maximum((strata + rng.random((count, dim))) / count, LEAST_SHARE))


def _root(surface: Surface, x: Floats, explained: Floats) -> Floats:
    covariance = linearise(surface.kernel, x, x).values - explained.T @ explained
    prior = float(np.max(surface.kernel.diag(x)))
    jitter = max(JITTER * float(covariance.diagonal().max()), LEAST_JITTER * prior)
    return np.asarray(np.linalg.cholesky(covariance + jitter * np.eye(len(x))), dtype=np.float64)
