"""A Gaussian process of which sums over points are observed."""

from __future__ import annotations

import numpy as np

from bandit_envs.basics.types import Floats, Ints

from ..model.model import Model


class Functionals:
    """Posterior of f on N points of one trial, given values h'f + e of linear functionals, exact.

    With v = Var e and g = Sigma h / (h'Sigma h + v): mu <- mu + g (s - h'mu), Sigma <- Sigma - g (Sigma h)'.
    O(N^2) a value, whatever h.

    Args:
        model: kernel and prior mean.
    """

    def __init__(self, model: Model):
        gram = model.gram
        self.mean = np.array(np.broadcast_to(np.asarray(model.prior_mean, dtype=np.float64), gram.size))
        self.covariance = gram.dense.copy()
        self.gain = 0.0  # of information, 1/2 sum log(1 + h'Sigma h / v)

    @property
    def std(self) -> Floats:
        """Deviations, (N,)."""
        return np.sqrt(np.maximum(np.diag(self.covariance), 0.0))

    @property
    def square(self) -> Floats:
        """E f^2, (N,)."""
        return self.mean**2 + np.maximum(np.diag(self.covariance), 0.0)

    def observe(self, point: Ints, weight: Floats, value: float, variance: float) -> None:
        """Observe sum_i weight_i f(point_i) + e, (n,) each, where e has a variance; points may repeat."""
        pull = weight @ self.covariance[point]
        spread = weight @ pull[point]
        gain = pull / (spread + variance)
        self.gain += 0.5 * float(np.log1p(spread / variance))
        self.mean += gain * (value - weight @ self.mean[point])
        self.covariance -= np.multiply.outer(gain, pull)
