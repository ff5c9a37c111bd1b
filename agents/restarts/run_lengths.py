r"""An alarm when the likeliest start of the present segment jumps forward (Adams & MacKay 2007).

Bayesian online change-point detection with Gaussian processes (Saatci et al. 2010): before each value

    p(start = now) = H,    p(start = s) *= 1 - H,

then each is multiplied by N(y; mu_s(x), sigma_s^2(x) + lambda), mu_s and sigma_s from the plays since s. H is
one over the expected length of a segment (from memory). The rate of false alarms has no bound.
"""

from __future__ import annotations

import math

import numpy as np

from bandit_envs.basics.types import Floats

from .outcomes import Outcomes, Told

NEGLIGIBLE = math.log(1e-6)  # share of the largest weight


class RunLengths:
    """The starts of one trial and their probabilities.

    Args:
        told: the model of the values.
        segment: expected rounds of a segment, 1 / H.
    """

    def __init__(self, told: Told, *, segment: float):
        self._outcomes = Outcomes(told)
        self._start, self._log_weight = np.zeros(1, dtype=np.int64), np.zeros(1)
        self._stay, self._change = math.log1p(-1.0 / segment), -math.log(segment)
        self._likeliest = 0

    @property
    def probabilities(self) -> tuple[np.ndarray, Floats]:
        """Starts that are not negligible and their probabilities, (W,) each."""
        return self._start, np.exp(self._log_weight)

    def observe(self, age: int, point: int, value: Floats, share: float) -> int | None:
        """Observe a value, see `Watch`; after a change plays are kept from the likeliest start on."""
        if age > 0:
            self._outcomes.begin()
            self._start = np.append(self._start, age)
            self._log_weight = np.append(self._log_weight + self._stay, self._change)
        density = self._outcomes.expected(point, share).log_density(value)[0]
        self._outcomes.learn(point, value, share)
        self._normalise(self._log_weight + density)
        likeliest = int(self._start[np.argmax(self._log_weight)])
        jumped, self._likeliest = likeliest > self._likeliest, likeliest
        return likeliest if jumped else None

    def _normalise(self, log_weight: Floats) -> None:
        kept = log_weight >= log_weight.max() + NEGLIGIBLE
        self._outcomes.keep(kept)
        self._start, left = self._start[kept], log_weight[kept]
        self._log_weight = left - np.logaddexp.reduce(left)
