"""Reward and costs of one trial as an alarm sees them: predictions from several starts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

import numpy as np
from scipy.linalg import get_lapack_funcs

from bandit_envs.basics.types import Bools, Floats, Ints

(_trtrs,) = get_lapack_funcs(("trtrs",), dtype=np.float64)

NEGLIGIBLE = 1e-9  # share of a prior variance below which a point adds no dimension
FIRST_CAPACITY = 16  # dimensions; doubled whenever they are full


class Coordinates:
    """phi(x) with phi(x)'phi(x') = k(x, x') + c, of one new dimension per linearly independent point.

    They are rows of a pivoted Cholesky factor in the order of play, O(k^2) a new point; c is the prior
    variance of an unknown level.
    """

    def __init__(self, between: Callable[[Ints, Ints], Floats], constant: float = 0.0):
        self._between, self._constant = between, constant
        self._pivots: list[int] = []
        self._known: dict[int, Floats] = {}
        self._factor = np.zeros((FIRST_CAPACITY, FIRST_CAPACITY))

    @property
    def dimensions(self) -> int:
        """The number of dimensions k so far."""
        return len(self._pivots)

    def of(self, point: int) -> Floats:
        """Return phi of a point, (j,) with j <= k; the missing entries are 0."""
        if point in self._known:
            return self._known[point]
        place, k = np.array([point]), self.dimensions
        variance = self._between(place, place).item() + self._constant
        phi = np.zeros(0)
        if k:  # LAPACK refuses empty matrices
            cross = self._between(place, np.array(self._pivots))[0] + self._constant
            phi = _trtrs(self._factor[:k].T, np.append(cross, np.zeros(0)), lower=0, trans=1)[0]
        rest = variance - phi @ phi
        if rest > NEGLIGIBLE * variance:
            if k == len(self._factor):
                self._factor = np.pad(self._factor, (0, k))
            self._factor[k, :k], self._factor[k, k] = phi, math.sqrt(rest)
            self._pivots.append(point)
            phi = self._factor[k, : k + 1].copy()
        self._known[point] = phi
        return phi


class Starts:
    r"""W starts of q functions that share their plays, under each of G noise variances lambda, (G,).

    f = phi'w, and start s has the belief N(m, P) about w: N(0, I) updated by the plays since s,

        m += P phi (y - phi'm) / (phi'P phi + lambda),    P -= P phi phi'P / (phi'P phi + lambda).

    O(G W k^2) a value with k dimensions; the starts are stacked.
    """

    def __init__(self, coordinates: Coordinates, noise: Floats, num_functions: int):
        self.coordinates, self.noise = coordinates, noise
        size = FIRST_CAPACITY
        self._mean = np.zeros((len(noise), 0, num_functions, size))  # (G, W, q, k) m
        self._covariance = np.zeros((len(noise), 0, size, size))  # (G, W, k, k) P
        self.begin()

    def begin(self) -> None:
        """Add a start from the prior."""
        many, _, functions, size = self._mean.shape
        fresh = np.broadcast_to(np.eye(size), (many, 1, size, size))
        self._mean = np.concatenate([self._mean, np.zeros((many, 1, functions, size))], axis=1)
        self._covariance = np.concatenate([self._covariance, fresh], axis=1)

    def keep(self, kept: Bools) -> None:
        """Drop the other starts, (W,)."""
        self._mean, self._covariance = self._mean[:, kept], self._covariance[:, kept]

    def predict(self, point: int) -> tuple[Floats, Floats]:
        """Return mean (G, W, q) and variance (G, W) of the functions at a point, without noise."""
        phi, _, along = self._at(point)
        mean = self._mean[..., : len(phi)] @ phi
        return mean, np.maximum(along[..., : len(phi)] @ phi, 0.0)

    def learn(self, point: int, value: Floats, share: float) -> None:
        """Condition on values, (q,), of `share` times the noise variance."""
        phi, k, along = self._at(point)
        variance = np.maximum(along[..., : len(phi)] @ phi, 0.0) + share * self.noise[:, None]
        gain = along / variance[..., None]
        error = value - self._mean[..., : len(phi)] @ phi
        self._mean[..., :k] += error[..., None] * gain[..., None, :]
        self._covariance[..., :k, :k] -= along[..., :, None] * gain[..., None, :]

    def _at(self, point: int) -> tuple[Floats, int, Floats]:
        """Return phi, k and P phi, (G, W, k)."""
        phi, k, old = self.coordinates.of(point), self.coordinates.dimensions, self._mean.shape[-1]
        if k > old:
            plain, new = [(0, 0)] * 2, np.arange(old, 2 * old)
            self._mean = np.pad(self._mean, [*plain, (0, 0), (0, old)])
            self._covariance = np.pad(self._covariance, [*plain, (0, old), (0, old)])
            self._covariance[..., new, new] = 1.0
        return phi, k, self._covariance[..., :k, : len(phi)] @ phi


class Expected(NamedTuple):
    """Predictions by W starts of the 1 + C values of a play, under each of G noise levels."""

    mean: Floats  # (G, W, 1 + C)
    variance: Floats  # (G, W, 1 + C) of the functions
    noise: Floats  # (G, 1, 1 + C) variance of the noise

    def log_density(self, value: Floats) -> Floats:
        """Return log N(y; mu, sigma^2 + lambda) of values, (1 + C,), summed over them: (G, W)."""
        variance = self.variance + self.noise
        return -0.5 * (np.log(2.0 * np.pi * variance) + (value - self.mean) ** 2 / variance).sum(axis=-1)

    def residual(self, value: Floats) -> Floats:
        """Return (y - mu) / sqrt(sigma^2 + lambda), (G, W, 1 + C): i.i.d. N(0, 1) if the model is right."""
        return (value - self.mean) / np.sqrt(self.variance + self.noise)


@dataclass(frozen=True, eq=False)
class ValueModel:
    """Model of the values of one trial: prior covariances of the reward and of each cost, and their noise.

    `levels` are prior variances of the unknown levels of the reward and of the costs; 0 for a known one.
    """

    between: Callable[[Ints, Ints], Floats]
    reward_noise: float
    cost_noise: float | Floats
    levels: tuple[float, float]
    num_costs: int


class Outcomes:
    """Posteriors of the reward and of the costs, which share their plays, under G scales of the noise std."""

    def __init__(self, value_model: ValueModel, scales: Sequence[float] = (1.0,)):
        square = np.square(np.asarray(scales, dtype=np.float64))
        reward, cost = (Coordinates(value_model.between, level) for level in value_model.levels)
        each = np.broadcast_to(value_model.cost_noise, value_model.num_costs).tolist()
        alike = [(noise, len(list(costs))) for noise, costs in groupby(each)]
        self._parts = [Starts(reward, value_model.reward_noise * square, 1)]
        self._parts += [Starts(cost, noise * square, count) for noise, count in alike]
        self._counts = [1, *(count for _, count in alike)]

    def begin(self) -> None:
        """Add a start from the prior."""
        for part in self._parts:
            part.begin()

    def keep(self, kept: Bools) -> None:
        """Drop the other starts, (W,)."""
        for part in self._parts:
            part.keep(kept)

    def expected(self, point: int, share: float) -> Expected:
        """Return the predictions for a play whose noise variance is `share` times the given one."""
        mean, variance = zip(*(part.predict(point) for part in self._parts), strict=True)
        noise = [share * part.noise[:, None, None] for part in self._parts]
        variance = self._repeated([each[..., None] for each in variance])
        return Expected(np.concatenate(mean, axis=-1), variance, self._repeated(noise))

    def _repeated(self, parts: list[Floats]) -> Floats:
        each = zip(parts, self._counts, strict=True)
        return np.concatenate([np.repeat(part, count, axis=-1) for part, count in each], axis=-1)

    def learn(self, point: int, value: Floats, share: float) -> None:
        """Condition on values, (1 + C,)."""
        ends = np.cumsum(self._counts)[:-1]
        for part, own in zip(self._parts, np.split(value, ends), strict=True):
            part.learn(point, own, share)
