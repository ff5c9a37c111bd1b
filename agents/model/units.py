"""The units in which a quantity is modelled, and how a sample of its values tells them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bandit_envs.basics.types import Bools, Floats
from bandit_envs.problem.setting import Setting

from ..kernels.shape import largest_deviation


class Units(NamedTuple):
    """A value y is modelled as (y - centre) / scale."""

    centre: Floats  # (B,), or (B, K) of K quantities
    scale: Floats  # the same

    def where(self, trials: Bools, other: Units) -> Units:
        """These in some trials, (B,), and others elsewhere."""
        return Units(*(np.where(_column(trials, x), x, y) for x, y in zip(self, other, strict=True)))


class PriorUnits(NamedTuple):
    """Rewards and costs in prior deviations, which is what papers with k(x, x) <= 1 speak of."""

    deviation: float = 1.0  # s, the largest of the prior
    mean: float = 0.0  # of the reward, on average over the points

    @classmethod
    def published(cls, setting: Setting, unknown: float = 1.0) -> PriorUnits:
        """Those of a setting; `unknown` is the deviation where the kernel is withheld."""
        kernel, points = setting.kernel, setting.decisions.points
        deviation = unknown if kernel is None else largest_deviation(kernel, points)
        return cls(deviation, float(np.mean(setting.prior_mean)))

    def of(self, *values: Any) -> tuple[Any, ...]:
        """Values and deviations in these units; None as it is."""
        return tuple(None if each is None else np.divide(each, self.deviation) for each in values)

    def centres(self, num_constraints: int) -> Floats:
        """Prior means of the reward and of the costs, in these units, (1 + C,)."""
        return np.append(self.mean / self.deviation, np.zeros(num_constraints))


def mean_and_deviation(values: Floats, fewest: int) -> tuple[Floats, Floats]:
    """Mean and deviation (n - 1) of what is finite of K samples, (n, K) -> (K,) each.

    The mean is 0 where nothing is known; the deviation is 0 where fewer than `fewest` values are known, and
    where all are equal, for which rounding would leave 1e-17.
    """
    known = np.isfinite(values)
    count = known.sum(axis=0)
    mean = np.where(known, values, 0.0).sum(axis=0) / np.maximum(count, 1)
    gap = np.where(known, values - mean, 0.0)
    _, power = np.frexp(np.abs(gap).max(axis=0, initial=0.0))  # taken out before a square can overflow,
    square = (np.ldexp(gap, -power) ** 2).sum(axis=0)  # as a power of 2: nothing is rounded
    deviation = np.ldexp(np.sqrt(square / np.maximum(count - 1, 1)), power)
    low = np.where(known, values, np.inf).min(axis=0, initial=np.inf)
    high = np.where(known, values, -np.inf).max(axis=0, initial=-np.inf)
    return mean, np.where((count >= fewest) & (high > low), deviation, 0.0)


def _column(trials: Bools, like: Floats) -> Bools:
    return trials.reshape(-1, *[1] * (like.ndim - 1))
