"""The optimistic reward less a penalty for violations that are certain."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Unpack

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints
from bandit_envs.problem.setting import Setting

from .base import BoxTerms
from .each_modelled import Band, EachModelled, OfCosts
from .each_modelled_parts import CostModelOptions, each_modelled
from .first_plays import FirstPlays, first_plays_of
from .penalised_parts import PenalisedParts
from .schedules import Schedule

if TYPE_CHECKING:
    from ..model.model import Model

ON_BOX, TOLERANCE = 1e9, 1e-6  # on boxes: a finite substitute of an infinite penalty, and its tolerance


class Rectified(EachModelled):
    r"""argmax uf - sum_j Q_j [lg_j]^+, and where all are minus infinity argmin sum_j [lg_j]^+.

    With bands that hold lg_j(x*) <= 0, so that uf(x_t) - sum_j Q_j [lg_j(x_t)]^+ >= f(x*) whatever Q >= 0:

        f(x*) - f(x_t) <= 2 w_f sd_f(x_t)
        [g_j(x_t)]^+ <= 2 w_j sd_j(x_t) + (2 w_f sd_f(x_t) + f(x_t) - f(x*)) / Q_j

    in every round, and so against a comparator that changes with contexts, segments and the available arms;
    scores of unavailable arms are minus infinity. The play where no arm may be feasible is our reading, and
    `infeasible` marks it. On a box an infinite penalty is 1e9 and costs up to 1e-6 count as feasible: the
    search compares points there and needs no slopes. A round is infeasible there if no candidate of the
    search may be feasible.

    A restart of a trial resets Q, too; the violations of plays that are kept then move it at once, with the
    next round, and t counts from the first of them.

    Args:
        model: of the reward; the costs share its kernel and bound.
        num_trials: B.
        first_plays: store of the uniform first plays.
        assumed: assumptions about the costs.
        schedule: Q.
    """

    def __init__(
        self, model: Model, num_trials: int, first_plays: FirstPlays, assumed: OfCosts, schedule: Schedule
    ):
        super().__init__(model, num_trials, first_plays, assumed)
        self.schedule, shape = schedule, (num_trials, len(self.costs))
        most, self._forgiven = (ON_BOX, TOLERANCE) if model.setting.continuous else (np.inf, 0.0)
        self._first = np.minimum(schedule.start(*shape), most)
        self.charge = self._first.copy()  # Q of this round, (B, C)
        self._violation = np.zeros(shape)  # [c]^+ delivered in this round
        self._since = np.zeros((num_trials, 1), dtype=np.int64)

    def observe(self, trial: Ints, cost: Floats) -> None:
        """Add the delivered violations."""
        np.add.at(self._violation, trial, np.maximum(cost, 0.0))

    def penalised(self, scores: Floats, context: Ints, t: Ints) -> Floats:
        """Return the objective from the scaled scores of the reward, (B, A)."""
        self.infeasible = None
        return super().penalised(scores, context, t)

    @property
    def penalised_on_box(self) -> BoxTerms:
        """Function that returns the objective at points of a box, for one search."""
        self.infeasible = None
        return super().penalised_on_box

    def combined(self, scores: Floats, bands: Iterable[Band], t: Ints) -> Floats:
        """Return the score less the penalty of certain violations, (B, A)."""
        total = np.zeros_like(scores)  # of the violations
        worth = scores.copy()
        for j, band in enumerate(bands):
            over = np.maximum(self.lower(j, band, t) - self._forgiven, 0.0)
            total += over
            worth -= np.multiply(self.charge[:, j, None], over, out=np.zeros_like(over), where=over > 0)
        found: Bools = np.logical_and.reduce((total > 0) | (scores == -np.inf), axis=1)
        self.infeasible = found if self.infeasible is None else self.infeasible & found
        lost = (worth == -np.inf).all(axis=1)
        return np.where(lost[:, None], -total, worth)

    def move(self, rounds: int) -> bool:
        """Move the penalties."""
        self.charge = self.schedule.moved(self.charge, self._violation, rounds - self._since)
        self._violation[:] = 0.0
        return self.looks(rounds)

    def forget(self, trial: Ints, rounds: int) -> None:
        """Restart with the first penalties, and count rounds anew."""
        super().forget(trial, rounds)
        self.charge[trial], self._since[trial] = self._first[trial], rounds


@dataclass(frozen=True)
class OfRectified:
    """Builder of the objective from the model and the number of trials.

    Args:
        schedule: Q.
        assumed: assumptions about the costs.
    """

    schedule: Schedule
    assumed: OfCosts

    def __call__(self, model: Model, num_trials: int) -> Rectified:
        """Return the objective of a number of trials."""
        first_plays = first_plays_of(model, self.assumed.prior, num_trials)
        return Rectified(model, num_trials, first_plays, self.assumed, self.schedule)


def rectified_parts(
    setting: Setting, schedule: Schedule, *, delta: float = 0.1, **options: Unpack[CostModelOptions]
) -> PenalisedParts:
    """Return what models reward and costs apart and charges violations by a schedule; see `each_modelled`."""
    model, assumed = each_modelled(setting, delta=delta, **options)
    return PenalisedParts(model, OfRectified(schedule, assumed), assumed.delta)
