"""Objectives that combine scores of the reward with the costs of plays, under a budget."""

from __future__ import annotations

from typing import Any

import numpy as np

from bandit_envs.basics.types import Floats, Ints

from ..beliefs.play_costs import CostBand, CostBelief
from ..model.model import Model
from ..widths.base import Width
from ..widths.by_name import make_width
from .base import BoxTerms, PlayByPlay, Revision


class PerCost(PlayByPlay):
    """The reward, with a belief about the costs of plays, which no change affects and restarts keep."""

    of_reward = True

    def __init__(self, model: Model, num_trials: int):
        super().__init__(model, num_trials)
        self.costs = CostBelief(model, num_trials)
        self._initial = model.initial

    def values(self, trial: Ints, reward: Floats, cost: Floats) -> Floats:
        return reward

    def paid(self, trial: Ints, point: Ints, cost: Floats) -> None:
        self.costs.receive(trial, point, cost)

    def penalised(self, scores: Floats, context: Ints, t: Ints) -> Floats:
        """Return the objective, (B, A); the first plays are uniform, whatever they cost."""
        return np.where(t[:, None] <= self._initial, scores, self.combined(scores, self.costs.at(context), t))

    @property
    def penalised_on_box(self) -> BoxTerms:
        return self._on_box

    def combined(self, scores: Floats, band: CostBand, t: Ints) -> Floats:
        """Return the objective from scores and the band of the costs, (B, A)."""
        return scores

    def _on_box(self, scores: Floats, pairs: Floats, t: Ints) -> Floats:
        return (
            scores if t[0] <= self._initial else self.combined(scores[None], self.costs.on_box(pairs), t)[0]
        )


class Ratio(PerCost):
    """[uf]^+ / max(lk, cost_min), in units of the typical cost: an optimistic reward per unit of cost.

    With bands that hold it is at least rho* = max f / k at the play, so that rho* k(x_t) - f(x_t) <= 2 w_f
    sd_f + rho* 2 w_k sd_k. Arms of negative uf score 0: the budget need not be spent on them.
    """

    def __init__(self, model: Model, num_trials: int, *, width: Any, delta: float):
        super().__init__(model, num_trials)
        of_costs = self.costs.model
        self.width: Width | None = None if of_costs is None else make_width(width, of_costs, delta)

    def combined(self, scores: Floats, band: CostBand, t: Ints) -> Floats:
        belief = self.costs.belief
        width = np.zeros(len(t)) if belief is None or self.width is None else self.width(t, belief.gain)
        least = band.lower(width)
        return np.maximum(scores, 0.0) * self.costs.unit / np.maximum(least, self.tiny)

    @property
    def tiny(self) -> Floats:
        """Least cost where none is published, (B, 1): a thousandth of the typical one."""
        return 1e-3 * self.costs.unit


class PerCostImprovement(PerCost):
    """log EI - a ln k, or with k unknown log EI + ln E k^-a; a is 1, or cools to 0 as (B - spent) / B."""

    def __init__(self, model: Model, num_trials: int, *, cooling: bool):
        super().__init__(model, num_trials)
        self.cooling = cooling

    def combined(self, scores: Floats, band: CostBand, t: Ints) -> Floats:
        power = self.costs.left if self.cooling else np.ones_like(self.costs.left)
        return scores + band.log_power(power)


class Pandora(PerCost):
    """Prices lam E k of the Gittins index, in prior stds and typical costs.

    Args:
        lam: exchange rate of the first round.
        halving: True halves lam for the next play whenever the best observed value is above all indices.
    """

    def __init__(self, model: Model, num_trials: int, *, lam: float, halving: bool):
        super().__init__(model, num_trials)
        self.lam, self.halving = np.full((num_trials, 1), lam), halving
        self._deviation = model.deviation
        self._first = lam
        self._best, self._top = (np.full(num_trials, -np.inf) for _ in range(2))

    def prices(self, context: Ints) -> Floats:
        return self._priced(self.costs.at(context))

    def prices_on_box(self, pairs: Floats) -> Floats:
        return self._priced(self.costs.on_box(pairs))

    def combined(self, scores: Floats, band: CostBand, t: Ints) -> Floats:
        """Return the indices, and store the largest."""
        self._top = np.maximum(self._top, scores.max(axis=1))
        return scores

    def receive(self, trial: Ints, point: Ints, rounds: Ints, reward: Floats, cost: Floats) -> None:
        np.maximum.at(self._best, trial, reward)

    def end_round(self, rounds: int) -> Revision:
        if self.halving:
            self.lam[self._top < self._best] /= 2.0
        self._top[:] = -np.inf
        return super().end_round(rounds)

    def forget(self, trial: Ints, rounds: int) -> None:
        self.lam[trial], self._best[trial] = self._first, -np.inf

    def _priced(self, band: CostBand) -> Floats:
        return self._deviation * self.lam * band.expected / self.costs.unit
