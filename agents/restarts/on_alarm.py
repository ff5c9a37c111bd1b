"""Restarts by forced exploration and a test on what uniform plays earned."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from bandit_envs.basics.arguments import is_number
from bandit_envs.basics.types import Bools, Ints

from ..model.model import Model
from ..model.rounds import ByRound, Delivery
from .base import Restart
from .detection.detector import Places

PAPER_XI_SQUARED = 3


class ForcedExploration:
    """Schedule in which a round is uniform iff |uniform|^2 <= xi^2 |history| (Avanesov 2020, Algorithm 2).

    The history is all plays of a trial since its last restart, the uniform ones included. xi^2 is the
    parameter, because sqrt(3)**2 is not 3 and ties are uniform: with 3 the rounds begin U U U U G G U G G U,
    and about sqrt(xi^2 T) of T are uniform. With 0 only the first round is uniform, as in any algorithm.
    """

    def __init__(self, num_trials: int, xi_squared: float = PAPER_XI_SQUARED):
        if not is_number(xi_squared) or xi_squared < 0:
            raise ValueError(f"xi_squared must be a number >= 0, got {xi_squared!r}; the paper uses 3")
        self.xi_squared = xi_squared
        self.explored = np.zeros(num_trials, dtype=np.int64)  # number of uniform plays
        self.played = np.zeros(num_trials, dtype=np.int64)  # number of plays

    @property
    def due(self) -> Bools:
        """True where the next round is uniform, (B,)."""
        return self.explored**2 <= self.xi_squared * self.played

    def advance(self) -> Bools:
        """Count the round that is being played; return where it is uniform, (B,)."""
        due = self.due
        self.explored += due
        self.played += 1
        return due

    def restart(self, trial: Ints) -> None:
        """Reset the counts of some trials, (n,)."""
        self.explored[trial] = self.played[trial] = 0


def uniform_rounds(rounds: int, xi_squared: float = PAPER_XI_SQUARED) -> int:
    """Return how many of the first T rounds are uniform."""
    schedule = ForcedExploration(1, xi_squared)
    for _ in range(rounds):
        schedule.advance()
    return int(schedule.explored[0])


class OnAlarm(Restart):
    """Restart by the change-point detector, when the reward or a cost has changed.

    `observed` is the model of the reward, for agents whose own is of an objective derived from it. Detectors
    have the options `each` of their trials, B of them, over those of all; "theta" determines the rate of
    false alarms.
    """

    def __init__(
        self,
        model: Model,
        num_trials: int,
        *,
        observed: Model | None = None,
        each: Sequence[Mapping[str, Any]] | None = None,
        **options: Any,
    ):
        self.places = Places(model, observed or model)
        costs = model.setting.num_constraints  # of unknown prior mean
        centred = [not self.places.observed.mean_is_known] + [True] * costs
        options = {"num_responses": 1 + costs, "centred": centred, **options}
        own = [{}] * num_trials if each is None else each
        self.detectors = [self.places.detector(**{**options, **more}) for more in own]
        self.alarms = self._alarms = [list[int]() for _ in range(num_trials)]
        self._alarmed = np.zeros(num_trials, dtype=bool)

    def play(self, point: Ints) -> None:
        """Do nothing: the detector observes values only."""

    def receive(self, delivery: Delivery) -> None:
        trial, rounds = delivery.trial.tolist(), delivery.round.tolist()
        response, where = self.places.values(delivery), self.places.covariates(delivery.point)
        for i, x, t, y in zip(trial, where, rounds, response, strict=True):
            self._alarmed[i] |= self.detectors[i].insert(t, x, y)

    def end_round(self, rounds: int, info: dict[str, Any]) -> Ints:
        alarmed = self._alarmed.nonzero()[0]
        for i in alarmed.tolist():
            self._alarms[i].append(rounds - 1)
        return alarmed

    def forget(self, trial: Ints) -> None:
        self._alarmed[trial] = False
        for i in trial.tolist():
            self.detectors[i].reset()


class Exploring(Restart):
    """Restart that plays some rounds uniformly, and passes these alone to another restart, `watch`."""

    def __init__(
        self,
        model: Model,
        num_trials: int,
        *,
        watch: Callable[[Model, int], Restart],
        xi_squared: float = PAPER_XI_SQUARED,
    ):
        self.watch = watch(model, num_trials)
        self.privileged, self.alarms = self.watch.privileged, self.watch.alarms
        self._schedule = ForcedExploration(num_trials, xi_squared)
        self._was_exploring = ByRound(num_trials, np.bool_)

    @property
    def exploring(self) -> Bools:  # type: ignore[override] (an attribute of other restarts)
        """Mask of trials that play any arm in this round, (B,)."""
        return self._schedule.due

    def play(self, point: Ints) -> None:
        self._was_exploring.append(self._schedule.advance())
        self.watch.play(point)

    def receive(self, delivery: Delivery) -> None:
        uniform = self._was_exploring.rows[delivery.round, delivery.trial]
        if uniform.any():
            self.watch.receive(delivery.where(uniform))

    def end_round(self, rounds: int, info: dict[str, Any]) -> Ints:
        return self.watch.end_round(rounds, info)

    def forget(self, trial: Ints) -> None:
        self._schedule.restart(trial)
        self.watch.forget(trial)
