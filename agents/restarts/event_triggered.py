r"""An alarm when a value lies outside the band of posterior and noise (Brunzema et al. 2025).

With n plays since the restart, the new one included, pi_n = pi^2 n^2 / 6 and the posterior before it,

    |y - mu(x)| > sqrt(r) sigma(x) + sqrt(2 R^2 ln(2 pi_n / delta)),    r = 2 ln(2 pi_n / delta).

It is ET-GP-UCB's trigger without the factors that its code has for hardware. The value that triggers is kept
as the first of the new posterior (our reading; delta = 0.1 is from memory). It holds, with probability 1 -
delta at the played points, for f ~ GP(prior) and Gaussian noise of variance R^2.
"""

from __future__ import annotations

import math

import numpy as np

from bandit_envs.basics.types import Floats

from .outcomes import Outcomes, Told


class EventTriggered:
    """Trigger of one trial; reward and C costs share delta equally.

    Args:
        told: the model of the values.
        false_alarm_rate: delta.
    """

    def __init__(self, told: Told, *, false_alarm_rate: float = 0.1):
        self._outcomes, self._count = Outcomes(told), 0
        self._delta = false_alarm_rate / (1 + told.num_costs)

    def observe(self, age: int, point: int, value: Floats, share: float) -> int | None:
        """Observe a value, see `Watch`; after a change the play that triggered is the first that is kept."""
        self._count += 1
        expected = self._outcomes.expected(point, share)
        r = 2.0 * math.log(math.pi**2 * self._count**2 / (3.0 * self._delta))
        allowed = np.sqrt(r * expected.variance) + np.sqrt(r * expected.noise)
        if (np.abs(value - expected.mean) > allowed).any():
            return age
        self._outcomes.learn(point, value, share)
        return None
