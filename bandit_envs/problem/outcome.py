"""Define the outcome of a round: of n trials, with a leading axis, or of one, without it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from bandit_envs.basics.types import Floats


class RoundOutcome(NamedTuple):
    """Hold one round of n trials, neutral after a reset; of a single trial it has no axis n."""

    observation: Floats  # (n, dz), the next context
    reward: Any  # (n,) sum of the delivered rewards
    finished: Any  # (n,)
    t: Any  # (n,) round just played, -1 at reset
    arrived: Any  # (n, K) slot k is the round played k rounds ago
    step: Any  # (n, K) that round, -1 where nothing is delivered
    std: Floats  # (n, K) noise std of the delivered rewards where published; else (n, 0)
    values: Floats  # (n, K, 1 + C) delivered reward and costs, 0 elsewhere
    regret: Any  # (n,)
    means: Floats  # (n, 1 + C) of the play
    optimum: Any  # (n,)
    delay: Any  # (n,) of the play
    segment: Any  # (n,)
    corruption: Any  # (n,) amount added to the reward of the play
    available: Any  # (n, A) int8, arms that may be played next, if volatile; else (n, 0)
    played: Any  # (n,) whether a play was made
    terminated: Any  # (n,) whether none was made because its cost exceeded the budget
    spent: Any  # (n,) by the play
    paid: Floats  # (n, K) observed costs of plays with delivered feedback, with a budget; else (n, 0)
    rate: Any  # (n,) largest mean reward a unit of cost
    moved: Floats  # (n, 1) cost of the move from the last play, where moves cost; else (n, 0)
    regrets: Floats  # (n, 2) of the two arms of a duel; else (n, 0)

    @classmethod
    def of_reset(
        cls,
        observation: Floats,
        available: Any,
        slots: int,
        stds: int,
        values: int,
        paid: int,
        moved: int,
        arms: int,
    ) -> RoundOutcome:
        """Return the outcome before the first round, of these numbers of slots and values (1 + C).

        `arms` is 2 of duels, else 0.
        """
        n = len(observation)
        return cls(
            observation=observation,
            reward=np.zeros(n),
            finished=np.zeros(n, dtype=bool),
            t=np.full(n, -1),
            arrived=np.zeros((n, slots), dtype=bool),
            step=np.full((n, slots), -1),
            std=np.zeros((n, stds)),
            values=np.zeros((n, slots, values)),
            regret=np.zeros(n),
            means=np.zeros((n, values)),
            optimum=np.zeros(n),
            delay=np.zeros(n, dtype=np.int64),
            segment=np.zeros(n, dtype=np.int64),
            corruption=np.zeros(n),
            available=available,
            played=np.zeros(n, dtype=bool),
            terminated=np.zeros(n, dtype=bool),
            spent=np.zeros(n),
            paid=np.zeros((n, paid)),
            rate=np.zeros(n),
            moved=np.zeros((n, moved)),
            regrets=np.zeros((n, arms)),
        )

    def each(self, change: Callable[[Any], Any]) -> RoundOutcome:
        """Apply one function to every array."""
        return RoundOutcome(*[change(part) for part in self])

    @property
    def aggregated(self) -> RoundOutcome:
        """Return the outcome with one slot of step -1, the sum of the delivered, anonymous feedback.

        Costs of plays are summed too, because single ones would identify the plays.
        """
        values = self.values.sum(axis=-2, keepdims=True)
        values[..., 0, 0] = self.reward
        one = values[..., 0]
        paid = self.paid.sum(axis=-1, keepdims=True) if self.paid.shape[-1] else self.paid
        arrived, step = np.ones_like(one, bool), np.full_like(one, -1, int)
        return self._replace(arrived=arrived, step=step, values=values, paid=paid)

    @property
    def single(self) -> RoundOutcome:
        """Return the outcome of the only trial, without its axis."""
        return self.each(lambda part: part[0] if part.ndim > 1 else part.item())

    @staticmethod
    def merged(outcomes: Sequence[RoundOutcome], rows: Sequence[Any]) -> RoundOutcome:
        """Stack the trials of several outcomes, and put them in the order of their rows, (n,) each."""
        order = np.concatenate(rows).argsort()
        parts: list[Any] = [np.concatenate(arrays)[order] for arrays in zip(*outcomes, strict=True)]  # type: ignore[arg-type]
        return RoundOutcome(*parts)
