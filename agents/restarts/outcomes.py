"""Predictions of a trial's reward and costs from several starts, for alarms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints

from .coordinates import Coordinates
from .starts import Starts


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
class Told:
    """Model of the values of one trial.

    Args:
        between: prior covariances of points, (n,) and (m,) -> (n, m), of the reward and of each cost.
        reward_noise: variance.
        cost_noise: variance of all costs' noise, or of each, (C,).
        levels: prior variances of the unknown levels of the reward and of the costs; 0 for a known one.
        num_costs: C.
    """

    between: Callable[[Ints, Ints], Floats]
    reward_noise: float
    cost_noise: float | Floats
    levels: tuple[float, float]
    num_costs: int


class Outcomes:
    """Posteriors of the reward and of the costs, which share their plays and their changes.

    Args:
        told: the model of the values.
        scales: factors of the given noise std, G.
    """

    def __init__(self, told: Told, scales: Sequence[float] = (1.0,)):
        square = np.square(np.asarray(scales, dtype=np.float64))
        reward, cost = (Coordinates(told.between, level) for level in told.levels)
        each = np.broadcast_to(told.cost_noise, told.num_costs).tolist()
        alike = [(noise, len(list(costs))) for noise, costs in groupby(each)]
        self._parts = [Starts(reward, told.reward_noise * square, 1)]
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
        repeated = [
            np.repeat(each[..., None], count, axis=-1)
            for each, count in zip(variance, self._counts, strict=True)
        ]
        noise = [
            np.repeat(share * part.noise[:, None, None], count, axis=-1)
            for part, count in zip(self._parts, self._counts, strict=True)
        ]
        return Expected(*(np.concatenate(each, axis=-1) for each in (mean, repeated, noise)))

    def learn(self, point: int, value: Floats, share: float) -> None:
        """Condition on values, (1 + C,)."""
        ends = np.cumsum(self._counts)[:-1]
        for part, own in zip(self._parts, np.split(value, ends), strict=True):
            part.learn(point, own, share)
