r"""An alarm by the Gaussian generalised likelihood ratio of the mean of standardised residuals.

e_t = (y_t - mu_{t-1}(x_t)) / sqrt(sigma_{t-1}^2(x_t) + lambda) are independent N(0, 1) without a change.
After n values, with m_1, m_2, m the means of the first s, of the others and of all,

    max_s  s kl(m_1, m) + (n - s) kl(m_2, m) >= (1 + 1/n) ln(2 n^(3/2) / delta),    kl(a, b) = (a - b)^2 / 2,

statistic and threshold as in SMPyBandits; their use on the residuals of a Gaussian process is ours.
"""

from __future__ import annotations

import math

import numpy as np

from bandit_envs.basics.types import Floats

from .outcomes import Outcomes, Told

FIRST_CAPACITY = 64  # values; doubled whenever they are full


class LikelihoodRatio:
    """Detector on the residuals of one trial; O(n) a value. Reward and C costs share delta equally.

    Args:
        told: the model of the values.
        false_alarm_rate: delta.
    """

    def __init__(self, told: Told, *, false_alarm_rate: float = 0.1):
        self._outcomes = Outcomes(told)
        self._delta = false_alarm_rate / (1 + told.num_costs)
        self._sums = np.zeros((FIRST_CAPACITY, 1 + told.num_costs))  # of the first 0, 1, ... residuals
        self._age = np.zeros(FIRST_CAPACITY, dtype=np.int64)  # of the value after so many
        self._count = 0

    def observe(self, age: int, point: int, value: Floats, share: float) -> int | None:
        """Observe a value, see `Watch`; after a change plays are kept from the likeliest change on."""
        residual = self._outcomes.expected(point, share).residual(value)[0, 0]
        self._outcomes.learn(point, value, share)
        self._append(age, residual)
        n = self._count
        if n < 2:
            return None
        largest = self.statistics.max(axis=1)  # of the reward and the costs
        if largest.max() < (1.0 + 1.0 / n) * math.log(2.0 * n**1.5 / self._delta):
            return None
        return int(self._age[1 + np.argmax(largest)])

    @property
    def statistics(self) -> Floats:
        """Statistics of a change after s = 1, ..., n - 1 values, (n - 1, 1 + C)."""
        n, sums = self._count, self._sums[: self._count + 1]
        s, total = np.arange(1, n)[:, None], sums[n]
        before, after, mean = sums[1:n] / s, (total - sums[1:n]) / (n - s), total / n
        return 0.5 * (s * (before - mean) ** 2 + (n - s) * (after - mean) ** 2)

    def _append(self, age: int, residual: Floats) -> None:
        n, capacity = self._count, len(self._sums)
        if n + 1 == capacity:
            self._sums = np.pad(self._sums, ((0, capacity), (0, 0)))
            self._age = np.pad(self._age, (0, capacity))
        self._age[n], self._sums[n + 1] = age, self._sums[n] + residual
        self._count = n + 1
