"""Agents that begin every epoch of their objective with a fresh belief."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints

from ..acquisition.rules import PosteriorMean
from ..beliefs.base import Belief
from ..model.rounds import Delivery, in_time
from .generators import build
from .gp_agent import GPAgent


class EpochAgent(GPAgent):
    """Starts all trials with a fresh belief after every epoch; only pending plays go over to it.

    With `incumbent_first` it first plays the best mean of the last epoch's belief.
    """

    def __init__(self, *given: Any, incumbent_first: bool, **parts: Any):
        self._incumbent_first = incumbent_first
        self._latest: Belief | None = None  # of the epoch before, until the first choice in this one
        super().__init__(*given, **parts)

    def reset(self, seed: Any) -> None:
        self._begun = 0  # round in which the epoch began
        self._latest = None
        super().reset(seed)

    def act(self, observation: Floats) -> Any:
        if self._latest is None:
            return super().act(observation)
        kept = self.belief, self.rule
        self.belief, self.rule, self._latest = self._latest, PosteriorMean(), None
        try:
            return super().act(observation)
        finally:
            self.belief, self.rule = kept

    def _follow(self) -> None:
        super()._follow()
        if self.round % self.objective.epoch == 0:
            self._begin_epoch()

    def _begin_epoch(self) -> None:
        """Take a fresh belief. The uniform first plays are over: they are made once a trial."""
        self._latest = self.belief if self._incumbent_first else None
        self._assume(replace(self.model, initial=0))
        self.take(belief=build(self._parts[0], self.model, self.streams, "belief", self._size))
        self._begun, rows = self.round, self.book.pending()
        self.belief.condition(self.round, rows.where(self._awaited(rows.round)), self.clock)
        self.t[:] = 1

    def _awaited(self, rounds: Ints) -> Bools:
        """Return which earlier plays could still be delivered in time when the epoch began, (n,) each."""
        return np.asarray(in_time(self.clock.delay(rounds, self._begun), self.belief.window))

    def _learn(self, point: Ints, delivery: Delivery, values: Delivery) -> None:
        own = (values.round >= self._begun) | self._awaited(values.round)
        super()._learn(point, delivery, values.where(own))

    def forget(self, trial: Ints, kept: bool = False) -> None:
        super().forget(trial, kept)
        if self._latest is not None:
            self._latest.forget(trial)


def in_epochs(incumbent_first: bool | None) -> dict[str, Any]:
    """Return the kind of agents that begin epochs afresh; {} for None, those that do not."""
    return {} if incumbent_first is None else {"kind": partial(EpochAgent, incumbent_first=incumbent_first)}
