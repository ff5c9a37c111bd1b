"""Worlds of a belief on a box, in each of which the best plays have a sampled value that is free of noise.

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

from bandit_envs.basics.types import Floats, Ints

from ..kernels.point_slopes import linearise
from .surface import Means, Surface, jitter_of

(_trtrs,) = get_lapack_funcs(("trtrs",), dtype=np.float64)

LEAST_SHARE = 1e-16  # in place of 0, whose normal quantile is infinite
NUM_WORLDS = 16


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
        root = _root(surface, x, explained)
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
    best = factor.values.max(axis=1)
    if centre is surface.std_factor:  # the mean's rows are among the factor's
        factor.weights[:, : len(centre.weights)] += centre.weights
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
    jitter = jitter_of(surface, x, covariance) * np.eye(len(x))
    return np.asarray(np.linalg.cholesky(covariance + jitter), dtype=np.float64)
