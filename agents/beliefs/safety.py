"""Beliefs about costs: of limits, whether they are kept and which arms surely keep them; of plays."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.special import erfcx, log_ndtr

from bandit_envs.basics.arguments import require
from bandit_envs.basics.types import Bools, Floats, Ints
from bandit_envs.laws.play_costs import PlayCosts

from ..kernels.amplitude import unit_kernel
from ..model.model import Model
from ..model.rounds import Delivery
from .base import Belief
from .delivered import Delivered
from .points import Points

INFEASIBLE = -1e9  # worth, in prior stds, below that of all arms that are believed feasible


def log_feasibility(mean: Floats, std: Floats) -> Floats:
    """Return log P(c <= 0) = log Phi(-mean / std) of a cost c ~ N(mean, std^2), both of one shape."""
    return log_ndtr(stds_below(mean, std))


def stds_below(mean: Floats, std: Floats) -> Floats:
    """Return -mean / std, of which Phi is the probability of a cost of at most 0; infinite where std = 0."""
    certain = np.where(mean <= 0.0, np.inf, -np.inf)
    return np.where(std > 0.0, -mean / np.where(std > 0.0, std, 1.0), certain)


def log_feasibility_slopes(mean: Floats, std: Floats) -> tuple[Floats, Floats]:
    """Return the derivatives of `log_feasibility` in mean and std; 0 where std = 0."""
    scale = np.where(std > 0.0, std, 1.0)
    z = -mean / scale
    ratio = np.where(std > 0.0, 1.0 / mills_ratio(-z), 0.0)  # phi / Phi
    return -ratio / scale, -ratio * z / scale


def mills_ratio(x: Floats) -> Floats:
    """m(x) = Phi(-x) / phi(x), infinite where it overflows."""
    with np.errstate(over="ignore"):  # the product may overflow where erfcx is finite
        return math.sqrt(math.pi / 2.0) * erfcx(x / math.sqrt(2.0))


@dataclass(frozen=True, eq=False)
class Safety:
    """The costs at the arms of each trial's context, in prior stds; properties are computed on access."""

    costs: Sequence[Belief]  # the belief about each cost, from delivered feedback alone
    context: Ints  # (B,)
    width: Floats  # (C, B) w_j of each cost
    shape: tuple[int, int]  # (B, A)
    safe_of: Callable[[Safety], Bools]  # computes S, the mask of arms that may be played, (B, A)
    expands_of: Callable[[Safety, int, Ints], Bools]  # mask of safe arms (n,) that may certify others
    settled_of: Callable[[Safety], Bools]  # mask of the trials that need not expand S any more, (B,)
    offered: Bools | None = None  # (B, A) the arms available in this round; None for all

    @cached_property
    def safe(self) -> Bools:
        """S, the mask of safe arms, (B, A); never empty."""
        return self.safe_of(self)

    @cached_property
    def settled(self) -> Bools:
        """The trials that need not expand any more, (B,)."""
        return self.settled_of(self)

    @cached_property
    def playable(self) -> Bools:
        """The arms of S that are available in this round, (B, A); never empty."""
        if self.offered is None:
            return self.safe
        playable = np.asarray(self.safe & self.offered)
        (stuck,) = np.logical_not(playable.any(axis=1)).nonzero()
        if len(stuck):
            trials = ", ".join(map(str, stuck.tolist()))
            raise RuntimeError(
                f"no arm that is certified as safe may be played in trial {trials}: one of the safe seed "
                "must be available in every round, as it is in environments with safe_seed=True"
            )
        return playable

    @cached_property
    def mean(self) -> Floats:
        """Posterior means, (C, B, A)."""
        mean = [belief.mean(self.context) for belief in self.costs]
        return np.reshape(mean, (len(mean), *self.shape))

    @cached_property
    def std(self) -> Floats:
        """Posterior stds, (C, B, A)."""
        std = [belief.std(self.context) for belief in self.costs]
        return np.reshape(std, (len(std), *self.shape))

    @property
    def upper(self) -> Floats:
        """ug_j, (C, B, A)."""
        return self.mean + self.width[:, :, None] * self.std

    @property
    def lower(self) -> Floats:
        """lg_j, (C, B, A)."""
        return self.mean - self.width[:, :, None] * self.std

    @property
    def widest(self) -> Floats:
        """The widest band of a cost, max_j (ug_j - lg_j), (B, A); 0 without costs."""
        return (2.0 * self.width[:, :, None] * self.std).max(axis=0, initial=0.0)

    def upper_everywhere(self) -> Floats:
        """Return ug_j at the points of all contexts, (C, B, N); costs have no prior mean."""
        mean = np.array([each.mean_posterior.mean_at(None) for each in self.costs])
        std = np.sqrt(np.maximum([each.std_posterior.variance_at(None) for each in self.costs], 0.0))
        return mean + self.width[:, :, None] * std

    def expands(self, trial: int, arms: Ints) -> Bools:
        """Return where the best possible costs of a trial's safe arms certify an arm outside S, (n,)."""
        return self.expands_of(self, trial, arms)

    def covariance(self, j: int, trial: int, arms: Ints) -> Floats:
        """Return a cost's posterior covariance between some arms and all, (n,) -> (n, A); O(u^2 (n + A))."""
        belief, posterior = self.costs[j], self.costs[j].std_posterior
        seen, gram, cells = posterior.statistics(trial), posterior.gram, belief.cells(self.context)
        everywhere = np.arange(belief.decisions.num_arms) if cells is None else cells[trial]
        prior = gram.between(everywhere[arms], everywhere)
        if not len(seen.point):
            return prior
        among = gram.between(seen.point, seen.point)
        among[np.diag_indices(len(among))] += posterior.noise[trial] / seen.plays
        explained = np.linalg.solve(among, gram.between(seen.point, everywhere))
        return prior - gram.between(everywhere[arms], seen.point) @ explained


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
    not depend on the unit of costs. Restarts keep it.
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
        if self.belief is None:
            cost = np.ones(points.shape) if self.free else points.read(self.known)
            return CostBand(cost, np.zeros_like(cost), False, self.least)
        mean, std = points.band(self.belief)
        mean = self.mean_posterior[:, None] + self.scale * mean
        return CostBand(mean, self.scale * std, self._logarithmic, self.least)

    def paid(self, trial: Ints, point: Ints, cost: Floats) -> None:
        """Condition on delivered costs of plays, (n,) each; trials ascend."""
        np.add.at(self.spent, trial, cost)
        if self.belief is None:
            return
        value = cost
        if self._logarithmic:
            seen = np.maximum(cost, self.least)
            require((seen > 0).all(), "feedback_spent", "positive where no cost_min is published", cost)
            value = np.log(seen)
        for i, first in zip(*np.unique(trial, return_index=True), strict=True):
            if self._unseen[i]:
                self.mean_posterior[i], self._unseen[i] = value[first], False
        scaled = (value - self.mean_posterior[trial]) / self.scale
        self.belief.receive(Delivery.of_values(trial, point, scaled))


def _of_costs(model: Model, law: PlayCosts | None, scale: float) -> Model:
    """Return the model of scaled costs: the reward's kernel with unit variance, and their own noise."""
    variance = NOISE_VARIANCE if law is None else max((law.noise_std / scale) ** 2, LEAST_VARIANCE)
    setting = replace(model.setting, noise_profile=None)
    plain = replace(model, setting=setting, prior_mean=0.0, initial=0, learning=None)
    noise, kernel = math.sqrt(variance), unit_kernel(model.kernel, model.prior_std)
    return replace(plain, kernel=kernel, noise_std=noise, noise_variance=variance)
