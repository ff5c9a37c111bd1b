"""One model of the reward and one of each cost, combined optimistically under the multipliers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from bandit_envs.basics.types import Floats, Ints

from .each_modelled import Band, EachModelled, OfCosts
from .first_plays import FirstPlays
from .multipliers import Multipliers

if TYPE_CHECKING:
    from ..model.model import Model


class SeparateModels(EachModelled):
    """w0 ucb_f - sum_j w_j h(lcb_gj): the optimistic reward less the penalty of optimistic costs.

    Args:
        model: of the reward; the costs share its kernel and bound.
        multipliers: define how costs enter and weights move.
        first_plays: store of the uniform first plays.
        assumed: assumptions about the costs.
    """

    def __init__(self, model: Model, multipliers: Multipliers, first_plays: FirstPlays, assumed: OfCosts):
        self.multipliers, self.epoch = multipliers, multipliers.epoch
        super().__init__(model, len(multipliers.value), first_plays, assumed)

    def observe(self, trial: Ints, cost: Floats) -> None:
        """Store delivered costs until the multipliers move."""
        self.multipliers.receive(trial, cost)

    def combined(self, scores: Floats, bands: Iterable[Band], t: Ints) -> Floats:
        """Return w0 f - sum_j w_j h(lcb_gj), (B, A)."""
        weights = self.multipliers.weights
        total = weights.reward[:, None] * scores
        for j, band in enumerate(bands):
            lower = self.lower(j, band, t)
            total -= weights.cost[:, j, None] * self.multipliers.penalty.transform(lower)
        return total

    def move(self, rounds: int) -> bool:
        """Move the multipliers after every epoch."""
        return self.multipliers.end_round(rounds, self.first_plays.spread)

    def forget(self, trial: Ints, rounds: int) -> None:
        """Restart with the first multipliers."""
        self.multipliers.forget(trial)
        super().forget(trial, rounds)
