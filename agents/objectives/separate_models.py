"""The base of objectives with one model of the reward and one of each cost."""

from __future__ import annotations

import abc
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints

from ..beliefs.base import Belief
from ..beliefs.delivered import Delivered
from ..beliefs.points import Points
from ..model.defaults import rests_on_default
from ..model.hyperparameters import Hyperparameters
from ..model.model import Model
from ..model.rounds import Clock, Delivery, Rows
from ..model.units import PriorUnits, Units
from ..named import is_name
from ..options import require_costs
from ..posteriors import SufficientStatistics
from ..widths.base import Width
from ..widths.by_name import improved_width, make_width
from .base import NOTHING, Band, Objective, Revision
from .first_plays import FirstPlays, GivenUnits, Ledger

IMPROVED = "improved"  # the width of IGP-UCB
LOOK = 20  # rounds between two estimates of scales while first plays may be delivered late


@dataclass(frozen=True)
class CostModelSpec:
    """Assumptions of the models of the costs, which share kernel and B with the reward's."""

    standardize: bool  # True takes units from the first plays, else they are the prior's
    given: GivenUnits  # the user's centres and scales of reward and costs in prior stds, if any
    prior: PriorUnits
    noise: Floats | None  # stds in prior stds, (C,); None where withheld: as large a share as the reward's
    least: float | None  # bound of a cost's lambda, in squares of its scale; None for the reward's lambda
    width: Any  # of their bands: "improved" (IGP-UCB), or what `make_width` takes
    delta: float  # failure probability of each band
    belief: Callable[[Model, int], Belief] = Delivered  # of each

    def models(self, reward: Model, scale: Floats) -> list[Model]:
        """Return the model of each cost, from the reward's and the scales of all, (B, 1 + C).

        R is the noise of the cost in its scale, and lambda is R^2, but at least `least`.
        """
        if self.noise is None:
            return [replace(reward, noise_std=reward.noise_std / scale[:, 0])] * (scale.shape[1] - 1)
        stds = [noise / each for noise, each in zip(self.noise, scale.T[1:], strict=True)]
        least = reward.noise_variance if self.least is None else self.least
        return [
            replace(reward, noise_std=std, noise_variance=np.maximum(np.square(std), least)) for std in stds
        ]

    def width_of(self, cost: Model) -> Width:
        """Return the width of a cost's band."""
        if is_name(self.width, IMPROVED):
            return improved_width(cost, delta=self.delta)
        return make_width(self.width, cost, self.delta)


class SeparateModels(Objective):
    """Objective that combines the reward's score and the belief about each cost.

    All quantities are in prior stds, and centred and scaled by the uniform first plays, or as the user gives.
    The beliefs do not depend on how costs enter: only a change of scales gives their observations new values.
    """

    def __init__(self, model: Model, num_trials: int, assumed: CostModelSpec):
        self.given, self.prior = assumed.given, assumed.prior
        centres = self.prior.centres
        self.first_plays = FirstPlays(num_trials, len(centres), model.initial, centres)
        self.standardize = assumed.standardize
        self.reward_noise = model.noise_std
        num_constraints = model.setting.num_constraints
        self.ledger = Ledger(num_trials, 1 + num_constraints, model.gram.size)
        self._late = assumed.standardize and model.setting.max_delay > 0
        self._longest, self._rounds = model.setting.max_delay, 0
        self._based_on = np.zeros(num_trials, dtype=np.int64)  # number of first plays the units are made from
        self._model, self._assumed = model, assumed
        self._learnt: list[Hyperparameters] = []  # of the costs, in their scales; none before a fit
        self._unknown = self._units()  # of the reward, then of the costs, (B, 1 + C)
        models = self.cost_models(self._unknown.scale)
        self.costs = [assumed.belief(cost, num_trials) for cost in models]
        self._take(self._unknown)

    @property
    def assumes_bound(self) -> bool:
        """True where the bands of the costs use a default bound."""
        return any(map(rests_on_default, self.widths)) or any(belief.assumes_bound for belief in self.costs)

    def cost_models(self, scale: Floats) -> list[Model]:
        """Return the model of each cost under the scales of all, (B, 1 + C)."""
        models = self.given_models(scale)
        if not self._learnt:
            return models
        return [model.learnt(found) for model, found in zip(models, self._learnt, strict=True)]

    def given_models(self, scale: Floats) -> list[Model]:
        """Return the model of each cost before any fit."""
        return self._assumed.models(self._model, scale)

    def learn(self, reward: Hyperparameters, costs: Sequence[Hyperparameters]) -> None:
        """Take a kernel and a noise, in squares of its scale, for the reward and for each cost, (C,)."""
        self.reward_noise = math.sqrt(reward.noise_variance) * self.scale[:, 0]
        self._learnt = list(costs)
        models = self.cost_models(self.scale)
        self.widths = [self._assumed.width_of(model) for model in models]
        for belief, model in zip(self.costs, models, strict=True):
            belief.remodel(model)

    def values(self, trial: Ints, reward: Floats, cost: Floats) -> Floats:
        require_costs(cost, len(self.costs))
        (reward,) = self.prior.of(reward)
        return (reward - self.centre[trial, 0]) / self.scale[trial, 0]

    def receive(self, delivery: Delivery) -> None:
        trial, point = delivery.trial, delivery.point
        for belief, value in zip(self.costs, self.scaled_costs(trial, delivery.cost).T, strict=True):
            belief.receive(Delivery.of_values(trial, point, value))
        (reward,), cost = self.prior.of(delivery.reward), self.prior.of_costs(delivery.cost)
        outcome = np.column_stack([reward, cost])
        self.ledger.add(trial, point, outcome)
        self.observe(trial, cost)
        self.first_plays.add(trial, delivery.round, outcome)

    def scaled_costs(self, trial: Ints, cost: Floats) -> Floats:
        """Return scaled costs, (n, C)."""
        return (self.prior.of_costs(cost) - self.centre[trial, 1:]) / self.scale[trial, 1:]

    def played(self, point: Ints, t: Ints) -> None:
        for belief in self.costs:
            belief.play(point)

    def drop(self, trial: Ints, point: Ints, ago: Ints) -> None:
        self.first_plays.drop(trial, self._rounds - ago)
        for belief in self.costs:
            belief.drop(trial, point, ago)

    def condition(self, now: int, rows: Rows, clock: Clock) -> None:
        """Count all plays in the models of the costs, then receive what was delivered."""
        for belief in self.costs:
            belief.condition(now, rows.undelivered, clock)
        super().condition(now, rows, clock)

    def observe(self, trial: Ints, cost: Floats) -> None:
        """Record delivered costs, (n,) and (n, C) in prior stds."""

    @abc.abstractmethod
    def combined(self, scores: Floats, bands: Iterable[Band], t: Ints) -> Floats:
        """Return the objective from the reward's scores in prior stds and a band of each cost, (B, A)."""

    @abc.abstractmethod
    def move(self, rounds: int) -> bool | Bools:
        """Change how costs enter after round number `rounds`; return where to estimate scales again, (B,)."""

    def looks(self, rounds: int) -> bool:
        """Return True if scales are to be estimated again, because first plays may be delivered late."""
        return self._late and rounds % LOOK == 0

    def lower(self, j: int, band: Band, t: Ints) -> Floats:
        """Return lg_j = mu_j - w_j sd_j in prior stds, (B, A)."""
        mean, std = band
        width = self.widths[j](t, self.costs[j].gain) + self.costs[j].bias
        return self.centre[:, 1 + j, None] + self.scale[:, 1 + j, None] * (mean - width[:, None] * std)

    def penalised(self, scores: Floats, points: Points, t: Ints) -> Floats:
        bands = (self.band(j, points) for j in range(len(self.costs)))
        return self._after_first(scores, bands, t)

    def band(self, j: int, points: Points) -> Band:
        """Return mu_j and v of a cost's estimate mu_j - w_j v, scaled, (B, n) each: here v is the std."""
        return points.band(self.costs[j])

    def in_reward_units(self, mean: Floats, std: Floats) -> tuple[Floats, Floats]:
        unit = self.prior.std
        return unit * (self.centre[:, 0] + self.scale[:, 0] * mean), unit * self.scale[:, 0] * std

    def beliefs(self, mean: Floats, std: Floats, points: Points) -> list[Band]:
        """Return mean and std of the reward and of each cost: u (c + s mean) and u s std."""
        scaled = [(mean, std), *map(points.known, self.costs)]
        parts = zip(self.prior.each, self.centre.T, self.scale.T, scaled, strict=True)
        return [
            (unit * (centre[:, None] + scale[:, None] * m), unit * scale[:, None] * s)
            for unit, centre, scale, (m, s) in parts
        ]

    def cost_beliefs(self) -> list[tuple[Belief, Floats, Floats]]:
        unit, centre, scale = self.prior.costs, self.centre[:, 1:], self.scale[:, 1:]
        zeros, units = (unit * centre).T, (unit * scale).T
        return list(zip(self.costs, zeros, units, strict=True))

    def settled(self, rounds: int) -> Bools:
        """Return where the units are made from all first plays that can be delivered, (B,)."""
        if not self.standardize or None not in (self.given.centre, self.given.scale):
            return np.array(True)
        return self.first_plays.over(rounds, self._longest) & (self._based_on == self.first_plays.delivered)

    def begin(self) -> Revision:
        return Revision(self._noise())

    def end_round(self, rounds: int) -> Revision:
        self._rounds, looked = rounds, self.move(rounds)
        moved = self.first_plays.end_with(rounds) | looked
        if not moved.any():
            return NOTHING
        self._take(self._units().where(moved, Units(self.centre, self.scale)))
        self._based_on[moved] = self.first_plays.delivered[moved]
        trials = moved.nonzero()[0]
        for k, belief in enumerate(self.costs, start=1):
            belief.revalue(trials, partial(self._delivered_plays, k))
        return Revision(self._noise(), trials, partial(self._delivered_plays, 0))

    def forget(self, trial: Ints, rounds: int) -> None:
        self.first_plays.forget(trial, rounds)
        self.ledger.forget(trial)
        for belief in self.costs:
            belief.forget(trial)
        begun = np.isin(np.arange(len(self.centre)), trial)
        self._take(self._unknown.where(begun, Units(self.centre, self.scale)))
        self._based_on[trial] = 0

    def _after_first(self, scores: Floats, bands: Iterable[Band], t: Ints) -> Floats:
        combined = self.combined(self.centre[:, :1] + self.scale[:, :1] * scores, bands, t)
        return np.where(t[:, None] <= self.first_plays.count, scores, combined)  # first plays are uniform

    def _noise(self) -> Floats:
        return self.reward_noise / self.scale[:, 0]

    def _take(self, units: Units) -> None:
        self.centre, self.scale = units
        models = self.cost_models(self.scale)
        self.widths = [self._assumed.width_of(cost) for cost in models]
        for belief, cost in zip(self.costs, models, strict=True):
            if np.any(belief.std_posterior.noise != cost.noise_variance):  # lambda is in squares of the scale
                belief.remodel(cost)

    def _units(self) -> Units:
        if self.standardize:
            return self.given.completed_by(self.first_plays.of_each())
        centre = np.tile(self.first_plays.prior, (len(self.first_plays.values), 1))
        return self.given.completed_by(Units(centre, np.ones_like(centre)))

    def _delivered_plays(self, quantity: int, trial: int, point: Ints) -> SufficientStatistics:
        """Return delivered plays of a trial's points, (u,), and the sums of a quantity's scaled values."""
        scale, one = self.scale[trial, quantity], np.eye(self.scale.shape[1])[quantity]
        return self.ledger.weighted(trial, point, one / scale, self.centre[trial, quantity] / scale)
