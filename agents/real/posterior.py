"""The posterior of a surrogate: means, and variances with and without pending plays."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.linalg.blas import dtrsm  # type: ignore[attr-defined]
from scipy.linalg.lapack import dpotrs, dtrtrs  # type: ignore[attr-defined]

from bandit_envs.basics.types import Floats, Ints

from .surrogate import JITTER, PointValues, Surrogate, factor


class Predicted(NamedTuple):
    """What is known of some points, (n,) each."""

    mean: Floats
    known: Floats  # variance from delivered values
    variance: Floats  # with pending plays, whose values are their expectation


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
        across = self._across(points)
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

    def _across(self, points: Ints) -> Floats:
        return self.surrogate.covariance(self.theta, self.seen.point, points)

    def halves(self, across: Floats) -> tuple[Floats, Floats]:
        """Return L^-1 k and 1 - 1'C^-1 k of points, (u, n) and (n,)."""
        # From the right, as rows of C are columns of LAPACK: nothing is copied.
        return dtrsm(1.0, self.upper, across.T, side=1).T, 1.0 - self.ones @ across

    def _explained(self, half: Floats, rest: Floats, points: Ints, pending: Ints) -> Floats:
        """Return by how much pending plays lower the variance, (n,)."""
        own, mine = self.halves(self._across(pending))
        cross = self.surrogate.covariance(self.theta, pending, points) - own.T @ half
        cross += np.multiply.outer(mine, rest) / self.precision
        within = self.surrogate.covariance(self.theta, pending, pending) - own.T @ own
        within += np.multiply.outer(mine, mine) / self.precision
        upper, failed = factor(within, self.noise_at(pending))
        return np.zeros(len(points)) if failed else np.square(dtrtrs(upper, cross, trans=1)[0]).sum(axis=0)
