"""The belief about k, the cost of a play: published, or a Gaussian process of its own."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from bandit_envs.basics.arguments import require
from bandit_envs.basics.types import Floats, Ints
from bandit_envs.laws.play_costs import PlayCosts

from ..kernels.amplitude import unit_kernel
from ..model.model import Model
from ..model.rounds import Delivery
from .delivered import Delivered
from .points import Points

UNKNOWN = (0.0, 1.0)  # mean and std of ln k around the first observed cost, where nothing is published
NOISE_VARIANCE = 0.01  # lambda in prior variances, likewise
LEAST_VARIANCE = 1e-6  # lambda where costs are observed exactly


class CostBand(NamedTuple):
    """Mean and std of k, or of ln k where it is `logarithmic`, (B, n) each."""

    mean: Floats
    std: Floats
    logarithmic: bool
    least: float  # lower bound of the cost of any play, 0 where none is published

    @property
    def expected(self) -> Floats:
        """E k, (B, n): exp(m + s^2 / 2) from ln k, or the mean of k, at least `least`."""
        if self.logarithmic:
            return np.maximum(np.exp(self.mean + 0.5 * self.std**2), self.least)
        return np.maximum(self.mean, self.least)

    @property
    def log_expected(self) -> Floats:
        """ln E k, (B, n)."""
        with np.errstate(divide="ignore"):  # E k may be 0 where nothing is observed
            return np.log(self.expected)

    def log_power(self, power: Floats) -> Floats:
        """Return ln E k^-a, (B, 1) -> (B, n): -a m + a^2 s^2 / 2 of ln k; for k, -a ln E k (our reading)."""
        if self.logarithmic:
            return -power * self.mean + 0.5 * (power * self.std) ** 2
        return -power * self.log_expected

    def lower(self, width: Floats) -> Floats:
        """Return max(lk, least), lk the lower end of the band, (B,) -> (B, n)."""
        low = self.mean - width[:, None] * self.std
        return np.maximum(np.exp(low) if self.logarithmic else low, self.least)


class CostBelief:
    """Costs k of B trials: 1 where plays cost nothing, the published costs where known, else learnt.

    The model is a Gaussian process with the reward's kernel, scaled to the std that the published law gives
    to k or ln k. Without a law it models ln k, of std 1 around the first observed cost, so that results do
    not depend on the unit of costs. Restarts for changed functions keep the belief about costs.
    """

    def __init__(self, model: Model, num_trials: int):
        setting = self.setting = model.setting
        law, self.budget = setting.play_costs, setting.budget
        self.known: Any = setting.known_costs
        self.free = self.budget is None and self.known is None
        self.least = setting.cost_min or 0.0
        self.spent = np.zeros(num_trials)  # sum of the delivered costs, (B,)
        self.rows = np.arange(num_trials)
        mean_posterior, self.scale = UNKNOWN if law is None else law.prior
        self.mean_posterior = np.full(num_trials, mean_posterior)  # (B,)
        # True where the first observed cost will become the centre.
        self._unseen = np.full(num_trials, law is None)
        self._logarithmic = law is None or law.logarithmic
        learnt = not self.free and self.known is None
        self.model = _of_costs(model, law, self.scale) if learnt else None
        self.belief = Delivered(self.model, num_trials) if self.model else None

    @property
    def unit(self) -> Floats:
        """Typical cost of a play, (B, 1): a factor that makes scores independent of the costs' unit."""
        if self.free:
            return np.ones((len(self.rows), 1))
        if self.known is not None and self.setting.play_costs is None:
            known = self.known(self.setting.decisions.points) if self.setting.continuous else self.known
            return np.broadcast_to(np.mean(known, axis=-1), self.rows.shape)[:, None]
        return (np.exp(self.mean_posterior) if self._logarithmic else self.mean_posterior)[:, None]

    @property
    def left(self) -> Floats:
        """Remaining share of the budget, (B, 1); 1 without a budget."""
        share = 1.0 if self.budget is None else 1.0 - self.spent / self.budget
        return np.broadcast_to(np.maximum(share, 0.0), self.rows.shape)[:, None]

    def at(self, points: Points) -> CostBand:
        """Return the band at points of each trial, (B, n)."""
        if self.belief is not None:
            return self._band(*points.band(self.belief))
        return self._exactly(np.ones(points.shape) if self.free else points.read(self.known))

    def paid(self, trial: Ints, point: Ints, cost: Floats) -> None:
        """Condition on delivered costs of plays, (n,) each; trials ascend."""
        np.add.at(self.spent, trial, cost)
        if self.belief is None:
            return
        value = np.log(self._positive(cost)) if self._logarithmic else cost
        for i, first in zip(*np.unique(trial, return_index=True), strict=True):
            if self._unseen[i]:
                self.mean_posterior[i], self._unseen[i] = value[first], False
        scaled = (value - self.mean_posterior[trial]) / self.scale
        self.belief.receive(Delivery.of_values(trial, point, scaled))

    def _positive(self, cost: Floats) -> Floats:
        seen = np.maximum(cost, self.least)
        require((seen > 0).all(), "feedback_spent", "positive where no cost_min is published", cost)
        return seen

    def _band(self, mean: Floats, std: Floats) -> CostBand:
        mean = self.mean_posterior[:, None] + self.scale * mean
        return CostBand(mean, self.scale * std, self._logarithmic, self.least)

    def _exactly(self, cost: Floats) -> CostBand:
        return CostBand(cost, np.zeros_like(cost), False, self.least)


def _of_costs(model: Model, law: PlayCosts | None, scale: float) -> Model:
    """Return the model of scaled costs: the reward's kernel with unit variance, and their own noise."""
    variance = NOISE_VARIANCE if law is None else max((law.noise_std / scale) ** 2, LEAST_VARIANCE)
    setting = replace(model.setting, noise_profile=None)
    plain = replace(model, setting=setting, prior_mean=0.0, initial=0, learning=None)
    noise, kernel = math.sqrt(variance), unit_kernel(model.kernel, model.prior_std)
    return replace(plain, kernel=kernel, noise_std=noise, noise_variance=variance)
