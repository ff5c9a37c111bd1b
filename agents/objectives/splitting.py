"""The subproblems of ADMM, one of the reward and one of each unknown constraint (Ariafar et al. 2019)."""

from __future__ import annotations

import numpy as np
from scipy.special import log_ndtr, ndtr

from bandit_envs.basics.types import Floats

from ..beliefs.safety import deviations_below

LEVEL = 50.0  # M, the price of infeasibility
ABSOLUTE, RELATIVE = 0.05, 0.075  # tolerances of the residuals
IMBALANCE, FACTOR = 10.0, 2.0  # of the residuals at which rho changes, and by how much


class Splitting:
    r"""min f(x) + M sum_i 1[c_i(z_i) > 0] subject to x = z_i, in the augmented Lagrangian's terms."""

    def __init__(self, corner: Floats, num_constraints: int, rho: float):
        self.x = corner
        self.z = np.tile(corner, (num_constraints, 1))  # (C, d)
        self.y = np.zeros_like(self.z)  # (C, d) multipliers of x = z_i
        self.rho = rho
        self._old = self.z.copy()

    def reward_distance(self, arms: Floats) -> Floats:
        """q(x) = sum_i (rho / 2) ||x - z_i + y_i / rho||^2, (A, d) -> (A,).

        The distance equals (C rho / 2) ||x - mean z + mean y / rho||^2 up to a constant, which cancels in
        improvements.
        """
        gap = arms[:, None] - (self.z - self.y / self.rho)  # (A, C, d)
        return 0.5 * self.rho * (gap**2).sum(axis=(1, 2))

    def cost_distance(self, arms: Floats, i: int) -> Floats:
        """(rho / (2 M)) ||x - z + y_i / rho||^2 of candidates z, (A, d) -> (A,)."""
        gap = self.x + self.y[i] / self.rho - arms
        return self.rho / (2.0 * LEVEL) * (gap**2).sum(axis=1)

    def close(self) -> bool:
        """End a sweep: y_i += rho (x - z_i). Return True where all z_i agree with x and have stopped moving.

        r_i = ||x - z_i|| < 0.05 sqrt(d) + 0.075 max(||x||, ||z_i||) and s_i = rho ||z_i - z_i,old|| < 0.05
        sqrt(d) + 0.075 ||rho y_i||. Otherwise rho doubles where the mean r exceeds ten mean s, and halves
        where the mean s exceeds ten mean r.
        """
        self.y = self.y + self.rho * (self.x - self.z)
        primal = _norm(self.x - self.z)
        dual = self.rho * _norm(self.z - self._old)
        self._old = self.z.copy()
        floor = ABSOLUTE * np.sqrt(len(self.x))
        agreed = primal < floor + RELATIVE * np.maximum(_norm(self.x), _norm(self.z))
        still = dual < floor + RELATIVE * _norm(self.rho * self.y)
        if (agreed & still).all():
            return True
        if primal.mean() > IMBALANCE * dual.mean():
            self.rho *= FACTOR
        elif dual.mean() > IMBALANCE * primal.mean():
            self.rho /= FACTOR
        return False


def log_expected_decrease(mean: Floats, std: Floats, distance: Floats, smallest: float) -> Floats:
    r"""log E[max(h+ - h, 0)] of h = 1[c > 0] + distance, c ~ N(mean, std^2), (A,) each.

    With Q = h+ - distance, h+ the smallest h so far, and theta = Phi(-mean / std) the expectation is 0 for Q
    <= 0, Q theta for Q < 1, and Q - (1 - theta) for Q >= 1 (Ariafar et al. 2019, equation 13). Logarithms
    keep the order of candidates that are almost surely infeasible; -inf means that no decrease is possible.
    """
    feasible = deviations_below(mean, std)
    gap = smallest - distance
    with np.errstate(divide="ignore"):  # log 0 is meant
        below = np.log(np.maximum(gap, 0.0)) + log_ndtr(feasible)
        above = np.log(np.maximum(gap - ndtr(-feasible), 0.0))
    return np.where(gap < 1.0, below, above)


def expected_value(mean: Floats, std: Floats, distance: Floats) -> Floats:
    """E[h] = 1 - theta + distance, (A,); see `log_expected_decrease` for the arguments."""
    return ndtr(-deviations_below(mean, std)) + distance


def _norm(vectors: Floats) -> Floats:
    return np.sqrt((vectors**2).sum(axis=-1))
