"""The reward less a penalty for its costs: modelled as one function, or each apart (Shi & Eryilmaz 2022)."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from bandit_envs.basics.types import Floats, Ints

from ..beliefs.points import Points
from ..model.model import Model
from ..model.rounds import Delivery
from ..model.units import PriorUnits, Units
from ..options import require_costs
from ..posteriors import SufficientStatistics
from .base import NOTHING, Band, Objective, Revision
from .first_plays import GivenUnits, Ledger, first_plays_of
from .penalties import Multipliers, Penalty, Weights
from .separate_models import CostModelSpec, SeparateModels

LEAST_SCALE = 1e-150  # below it values could overflow; multipliers are useless long before


class Penalised(Objective):
    """y = (w0 f - sum_j w_j h_j - m) / s, whose weights move after every epoch of S rounds.

    Because a posterior mean is linear in the values, the sums of f and of each h_j at each arm suffice to
    compute the values of *all* past plays under new weights. Centre m and scale s are the mean and the std of
    the objective over the first plays, which are uniform, under the weights of the epoch: this is
    pessimistic, because most points are worse than the ones that will be played. Alternatively the user gives
    them, or neither: then m is the prior's and s = w0, which is f - sum_j kappa_j h_j as in the paper. The
    reward and each cost are first divided by their units, the largest prior stds unless the paper is taken
    literally: multipliers, steps and psi have no units. `given` are the user's m and s in prior stds, and
    `cost_noise` the stds of the noise on costs in these units, (C,), None for the reward's.
    """

    def __init__(
        self,
        model: Model,
        num_trials: int,
        *,
        penalty: Penalty,
        epoch: int,
        reuse: bool,
        standardize: bool,
        given: GivenUnits,
        prior: PriorUnits,
        cost_noise: Floats | None,
    ):
        num_constraints = model.setting.num_constraints
        self.multipliers = Multipliers(penalty, num_trials, num_constraints, epoch)
        self.first_plays = first_plays_of(model, prior, num_trials)
        self.reward_noise = model.noise_std
        self.cost_noise = np.reshape(model.noise_std, (-1, 1)) if cost_noise is None else cost_noise
        self.reuse, self.given, self.prior = reuse, given, prior
        self.standardize, self.epoch = standardize, epoch
        self._unknown = self._units()
        self.centre, self.scale = self._unknown
        size = model.gram.size  # on a box the played points, at first none
        self.ledger = Ledger(num_trials, 1 + num_constraints, size)  # of rewards and transformed costs

    @property
    def weights(self) -> Weights:
        """w0 and w of this epoch."""
        return self.multipliers.weights

    def begin(self) -> Revision:
        return Revision(self._noise())

    def values(self, trial: Ints, reward: Floats, cost: Floats) -> Floats:
        require_costs(cost, self.multipliers.value.shape[1])
        (reward,), cost = self.prior.of(reward), self.prior.of_costs(cost)
        h = self.multipliers.penalty.transform(cost)
        value = self.weights.reward[trial] * reward - (self.weights.cost[trial] * h).sum(axis=1)
        return (value - self.centre[trial]) / self.scale[trial]

    def receive(self, delivery: Delivery) -> None:
        trial = delivery.trial
        (reward,), cost = self.prior.of(delivery.reward), self.prior.of_costs(delivery.cost)
        h = self.multipliers.penalty.transform(cost)
        outcome = np.column_stack([reward, h])
        self.ledger.add(trial, delivery.point, outcome)
        self.multipliers.add(trial, cost)
        self.first_plays.add(trial, delivery.round, outcome)

    def in_reward_units(self, mean: Floats, std: Floats) -> tuple[Floats, Floats]:
        """Return mean and std of w0 f - sum_j w_j h_j; f itself has no model."""
        unit = self.prior.std
        return unit * (self.centre + self.scale * mean), unit * self.scale * std

    def beliefs(self, mean: Floats, std: Floats, points: Points) -> list[Band] | None:
        if self.multipliers.value.shape[1]:
            return None
        mean, std = self.in_reward_units(mean.T, std.T)
        return [(mean.T, std.T)]

    def end_round(self, rounds: int) -> Revision:
        epoch_ends = self.multipliers.end_round(rounds, self.first_plays.spread)
        moved = self.first_plays.end_with(rounds) | epoch_ends
        if not moved.any():
            return NOTHING
        self.centre, self.scale = self._units().where(moved, Units(self.centre, self.scale))
        if epoch_ends and not self.reuse:
            return Revision(self._noise())
        return Revision(self._noise(), moved.nonzero()[0], self._delivered_plays)

    def forget(self, trial: Ints, rounds: int) -> None:
        self.multipliers.forget(trial)
        self.first_plays.forget(trial, rounds)
        begun = np.isin(np.arange(len(self.centre)), trial)
        self.centre, self.scale = self._unknown.where(begun, Units(self.centre, self.scale))
        self.ledger.forget(trial)

    def _units(self) -> Units:
        weight = np.column_stack([self.weights.reward, -self.weights.cost])
        if self.standardize:
            return self.given.completed_by(self.first_plays.units(weight))
        literal = np.maximum(self.weights.reward, LEAST_SCALE)
        return self.given.completed_by(Units(weight @ self.first_plays.prior, literal))

    def _noise(self) -> Floats:
        noise_std = self.multipliers.penalty.noise_std
        noise = noise_std(self.multipliers.value, self.reward_noise, self.cost_noise)
        return self.weights.reward * noise / self.scale

    def _delivered_plays(self, trial: int, point: Ints) -> SufficientStatistics:
        """Return delivered plays of a trial's points, (u,), and the sums of their scaled values."""
        weight = np.append(self.weights.reward[trial], -self.weights.cost[trial])
        scale = self.scale[trial]
        return self.ledger.weighted(trial, point, weight / scale, self.centre[trial] / scale)


class PenalisedModels(SeparateModels):
    """w0 ucb_f - sum_j w_j h(lcb_gj): the optimistic reward less the penalty of optimistic costs."""

    def __init__(
        self, model: Model, num_trials: int, *, penalty: Penalty, epoch: int, assumed: CostModelSpec
    ):
        self.multipliers = Multipliers(penalty, num_trials, model.setting.num_constraints, epoch)
        self.epoch = epoch
        super().__init__(model, num_trials, assumed)

    def observe(self, trial: Ints, cost: Floats) -> None:
        self.multipliers.add(trial, cost)

    def combined(self, scores: Floats, bands: Iterable[Band], t: Ints) -> Floats:
        weights = self.multipliers.weights
        total = weights.reward[:, None] * scores
        for j, band in enumerate(bands):
            lower = self.lower(j, band, t)
            total -= weights.cost[:, j, None] * self.multipliers.penalty.transform(lower)
        return total

    def move(self, rounds: int) -> bool:
        return self.multipliers.end_round(rounds, self.first_plays.spread)

    def forget(self, trial: Ints, rounds: int) -> None:
        self.multipliers.forget(trial)
        super().forget(trial, rounds)
