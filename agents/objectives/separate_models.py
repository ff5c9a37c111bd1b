"""One model of the reward and one of each cost, combined optimistically under the multipliers."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints

from ..beliefs.base import Delivered
from ..beliefs.surface import Surface
from ..model.bounds import rests_on_default
from ..model.units import PriorUnits, Units
from ..posteriors import SufficientStatistics
from ..validation import PerTrial, require_costs
from ..widths.improved import ImprovedWidth
from .base import NOTHING, BoxTerms, Objective, Revision
from .first_plays import FirstPlays, GivenUnits
from .ledger import Ledger
from .multipliers import Multipliers

if TYPE_CHECKING:
    from ..model.model import Model


class SeparateModels(Objective):
    """w0 ucb_f - sum_j w_j h(lcb_gj): the reward at its best, every cost at its least.

    Reward and costs are centred and scaled by the uniform first plays, or as the user says. New multipliers
    need no new values: the models do not depend on them.

    Args:
        model: of the reward; the costs share its kernel, lambda and bound.
        multipliers: how costs enter and weights move.
        first_plays: the uniform ones.
        standardize: take centres and scales from the first plays, in place of the prior's.
        given: centre and scale of the reward and of each cost in prior deviations, as far as the user gives
            them.
        cost_noise: deviation of the noise on the costs, in prior deviations, a number or (B,).
        delta: failure probability of each cost's band.
        prior: the units.
    """

    def __init__(
        self,
        model: Model,
        multipliers: Multipliers,
        first_plays: FirstPlays,
        *,
        standardize: bool,
        given: GivenUnits,
        cost_noise: PerTrial,
        delta: float,
        prior: PriorUnits,
    ):
        self.multipliers, self.first_plays, self.given = multipliers, first_plays, given
        self.standardize, self.epoch = standardize, multipliers.epoch
        self.bound, self.delta, self.prior = model.rkhs_bound, delta, prior
        self.reward_noise, self.cost_noise = model.noise_std, cost_noise
        num_trials, num_constraints = multipliers.value.shape
        self.costs = [Delivered(model, num_trials) for _ in range(num_constraints)]
        self.ledger = Ledger(num_trials, 1 + num_constraints, model.gram.size)
        self._unknown = self._units()
        self.centre, self.scale = self._unknown  # of the reward, then of the costs, (B, 1 + C)

    def values(self, trial: Ints, reward: Floats, cost: Floats) -> Floats:
        """Scaled rewards, (n,)."""
        require_costs(cost, len(self.costs))
        (reward,) = self.prior.of(reward)
        return (reward - self.centre[trial, 0]) / self.scale[trial, 0]

    def receive(self, trial: Ints, point: Ints, rounds: Ints, reward: Floats, cost: Floats) -> None:
        """Learn the costs."""
        reward, cost = self.prior.of(reward, cost)
        scaled = (cost - self.centre[trial, 1:]) / self.scale[trial, 1:]
        for belief, value in zip(self.costs, scaled.T, strict=True):
            belief.receive(trial, point, np.zeros_like(point), value)
        outcome = np.column_stack([reward, cost])
        self.ledger.receive(trial, point, outcome)
        self.multipliers.receive(trial, cost)
        self.first_plays.receive(trial, rounds, outcome)

    def penalised(self, scores: Floats, context: Ints, t: Ints) -> Floats:
        """The penalised objective from the scaled scores of the reward, (B, A)."""
        believed = ((belief.mean(context), belief.std(context)) for belief in self.costs)
        return self._penalised(scores, believed, t)

    @property
    def assumes_bound(self) -> bool:
        """Whether the bands of the costs do."""
        return rests_on_default(self.bound)

    @property
    def penalised_on_box(self) -> BoxTerms:
        """The same of points of a box."""
        return self._on_box

    def in_reward_units(self, mean: Floats, std: Floats) -> tuple[Floats, Floats]:
        """Of the reward."""
        unit = self.prior.deviation
        return unit * (self.centre[:, 0] + self.scale[:, 0] * mean), unit * self.scale[:, 0] * std

    def _on_box(self, scores: Floats, pairs: Floats, t: Ints) -> Floats:
        each = (Surface.of(belief).predict(pairs) for belief in self.costs)
        return self._penalised(scores[None], ((mean[None], std[None]) for mean, std in each), t)[0]

    def _penalised(self, scores: Floats, believed: Iterable[tuple[Floats, Floats]], t: Ints) -> Floats:
        """w0 f - sum_j w_j h(lcb_gj) from scores of f and means and deviations of each g_j, (B, A)."""
        weights = self.multipliers.weights
        total = weights.reward[:, None] * (self.centre[:, :1] + self.scale[:, :1] * scores)
        for j, (mean, std) in enumerate(believed):
            centre, scale = self.centre[:, 1 + j, None], self.scale[:, 1 + j, None]
            width = ImprovedWidth(self.bound, self.cost_noise / scale[:, 0], delta=self.delta)
            lower = centre + scale * (mean - width(t, self.costs[j].gain)[:, None] * std)
            total -= weights.cost[:, j, None] * self.multipliers.penalty.transform(lower)
        return np.where(t[:, None] <= self.first_plays.count, scores, total)  # the first plays are uniform

    def begin(self) -> Revision:
        """Assume the noise of the scaled reward."""
        return Revision(self._noise())

    def end_round(self, rounds: int) -> Revision:
        """Move the multipliers after every epoch, and find the scales again: first plays may come late."""
        epoch_ends = self.multipliers.end_round(rounds, self.first_plays.spread)
        moved = self.first_plays.end_with(rounds) | epoch_ends
        return self._rescaled(moved) if moved.any() else NOTHING

    def forget(self, trial: Ints, rounds: int) -> None:
        """Begin with the first multipliers, the prior of each cost, and first plays to come."""
        self.multipliers.forget(trial)
        self.first_plays.forget(trial, rounds)
        self.ledger.forget(trial)
        for belief in self.costs:
            belief.forget(trial)
        begun = np.isin(np.arange(len(self.centre)), trial)
        self.centre, self.scale = self._unknown.where(begun, Units(self.centre, self.scale))

    def _noise(self) -> Floats:
        """R of the scaled reward, (B,)."""
        return self.reward_noise / self.scale[:, 0]

    def _units(self) -> Units:
        """Of the reward and of each cost, as the first plays tell them."""
        num_trials, num_constraints = self.multipliers.value.shape
        if not self.standardize:
            centre = np.tile(self.first_plays.prior, (num_trials, 1))
            return self.given.completed_by(Units(centre, np.ones_like(centre)))
        each = np.repeat(np.eye(1 + num_constraints)[:, None], num_trials, axis=1)
        columns = zip(*map(self.first_plays.units, each), strict=True)
        return self.given.completed_by(Units(*(np.stack(column, axis=1) for column in columns)))

    def _rescaled(self, moved: Bools) -> Revision:
        new, trials = self._units().where(moved, Units(self.centre, self.scale)), moved.nonzero()[0]
        self.centre, self.scale = new
        for k, belief in enumerate(self.costs, start=1):
            belief.revalue(trials, partial(self._came, k))
        return Revision(self._noise(), trials, partial(self._came, 0))

    def _came(self, quantity: int, trial: int, point: Ints) -> SufficientStatistics:
        """Delivered plays of a trial's points, (u,), and the sums of a quantity's scaled values."""
        scale, one = self.scale[trial, quantity], np.eye(self.scale.shape[1])[quantity]
        return self.ledger.weighted(trial, point, one / scale, self.centre[trial, quantity] / scale)
