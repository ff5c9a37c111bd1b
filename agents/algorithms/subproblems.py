"""The parts of ADMMBO's subproblems: processes, splitting variables, and the improvement of a cost."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.linalg import norm
from scipy.special import log_ndtr, ndtr

from bandit_envs.basics.types import Floats, Ints

from ..agent.assumptions import FEWEST_VALUES
from ..beliefs.delivered import Delivered
from ..beliefs.safety import stds_below
from ..model.defaults import NOISE_FLOOR
from ..model.hyperparameters import Fitter, Hyperparameters
from ..model.model import Model
from ..model.rounds import Delivery
from ..model.units import mean_and_std

FEWEST = 3  # values whose std says something about the size of a function
LEVEL = 50.0  # M, the price of infeasibility
ABSOLUTE, RELATIVE = 0.05, 0.075  # tolerances of the residuals
IMBALANCE, FACTOR = 10.0, 2.0  # of the residuals at which rho changes, and by how much


class OutcomeProcess:
    """The Gaussian process of one quantity in prior stds, centre + scale h, of the plays that it learns."""

    def __init__(self, model: Model, centre: float):
        self._given, self.centre, self.scale = model, centre, 1.0
        self.point, self.value = np.zeros(0, dtype=np.int64), np.zeros(0)  # (n,) each
        self._belief = Delivered(model, 1)
        self._fitter: Fitter | None = None  # from the first fit on
        self._found: Hyperparameters | None = None  # in its scale

    @property
    def model(self) -> Model:
        """The given model in its scale, with the latest hyperparameters where it has learnt some."""
        noise = np.maximum(self._given.noise_variance / self.scale**2, NOISE_FLOOR)
        model = replace(self._given, noise_variance=noise)
        return model if self._found is None else model.learnt(self._found)

    def add(self, point: Ints, value: Floats) -> None:
        """Learn values of points, (n,) each."""
        self.point, self.value = np.append(self.point, point), np.append(self.value, value)
        self._condition(point, value)

    def standardise(self) -> None:
        """Take centre and scale from the values, where they differ and there are three; else a scale of 1."""
        if not len(self.value):
            return
        (self.centre,), (deviation,) = mean_and_std(self.value[:, None], FEWEST)
        self.scale = deviation or 1.0
        self._begin_anew()

    def learn(self, rng: np.random.Generator) -> bool:
        """Fit kernel and noise to the scaled values, from two on; return True where the fit failed."""
        model, learning = self.model, self._given.learning
        assert learning is not None
        if len(self.value) < FEWEST_VALUES:
            return False
        if self._fitter is None:
            noise, variance = np.asarray(model.noise_variance).item(), model.prior_std**2
            self._fitter = Fitter(model.kernel, noise, variance, learning)
        features, value = model.setting.decisions.points, (self.value - self.centre) / self.scale
        latest, restarts = learning.latest, learning.restarts
        found = self._fitter.fit(features, self.point[latest], value[latest], restarts, rng)
        if found is None:
            return True
        self._found = found
        self._begin_anew()
        return False

    def believed(self, context: Ints) -> tuple[Floats, Floats]:
        """Return mean and std at the arms of a context, (1,) -> (A,) each."""
        mean, std = self._belief.mean(context)[0], self._belief.std(context)[0]
        return self.centre + self.scale * mean, self.scale * std

    def _begin_anew(self) -> None:
        self._belief = Delivered(self.model, 1)
        self._condition(self.point, self.value)

    def _condition(self, point: Ints, value: Floats) -> None:
        none = np.zeros_like(point)
        self._belief.receive(Delivery.of_values(none, point, (value - self.centre) / self.scale))


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
        primal = norm(self.x - self.z, axis=1)
        dual = self.rho * norm(self.z - self._old, axis=1)
        self._old = self.z.copy()
        floor = ABSOLUTE * np.sqrt(len(self.x))
        agreed = primal < floor + RELATIVE * np.maximum(norm(self.x, axis=0), norm(self.z, axis=1))
        still = dual < floor + RELATIVE * norm(self.rho * self.y, axis=1)
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
    feasible = stds_below(mean, std)
    gap = smallest - distance
    with np.errstate(divide="ignore"):  # log 0 is meant
        below = np.log(np.maximum(gap, 0.0)) + log_ndtr(feasible)
        above = np.log(np.maximum(gap - ndtr(-feasible), 0.0))
    return np.where(gap < 1.0, below, above)
