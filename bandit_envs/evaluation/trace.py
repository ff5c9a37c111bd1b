"""What the evaluation loop notes down round by round, and the record it becomes."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from bandit_envs.evaluation.record import Record, ragged
from bandit_envs.laws.changes import change_points_of
from bandit_envs.laws.parse import is_integer, require
from bandit_envs.types import Floats, Ints


class Trace:
    """The truth of every round of one episode of B trials.

    Args:
        num_trials: B.
        privileged: whether the agent was shown the truth.
        single: whether one environment without a trial axis is played.
    """

    def __init__(self, num_trials: int, privileged: bool, single: bool = False):
        self.num_trials, self.privileged, self.single = num_trials, privileged, single
        self.seconds = 0.0
        self.alarms: Any = [None] * num_trials  # of an agent without a detector
        self._rounds: list[tuple[Any, ...]] = []

    def note(self, oracle: dict[str, Any], action: Any) -> None:
        """Keep what the round's `oracle` says of a play."""
        # A copy: an agent may hand out the same array again and again.
        seen = (oracle[key] for key in ("regret", "delay", "cost_mean", "segment"))
        self._rounds.append((*seen, np.array(action)))

    def record(self, worst_regret: Floats | None) -> Record:
        """The record of the B trials.

        Args:
            worst_regret: the largest possible regret of each round, (B, T), which is the simple regret
                before anything arrives; None takes the largest that occurred.
        """
        shape = self.num_trials, len(self._rounds)
        regret, delay, cost, segment, action = map(self._by_trial, zip(*self._rounds, strict=True))
        worst = regret.max(axis=1, keepdims=True) if worst_regret is None else worst_regret[:, : shape[1]]
        seconds = np.full(self.num_trials, self.seconds / self.num_trials)
        violation = np.linalg.norm(np.maximum(cost, 0.0), axis=2)
        return Record(
            regret,
            simple_regret(regret, delay, worst),
            cost,
            violation,
            action,
            seconds,
            changes=ragged([change_points_of(row) for row in segment]),
            alarms=ragged([_checked_alarms(rounds, shape[1]) for rounds in self.alarms]),
        )

    def _by_trial(self, rounds: tuple[Any, ...]) -> Any:
        """T entries of one trial or of B as (B, T, ...)."""
        stacked = np.stack(rounds)
        return stacked[None] if self.single else np.ascontiguousarray(np.swapaxes(stacked, 0, 1))


def simple_regret(regret: Floats, delay: Ints, worst: Floats) -> Floats:
    """Regret of the best play whose feedback has arrived, (B, T); the worst possible before any arrival.

    Args:
        regret: of each round's play, (B, T).
        delay: of its feedback, -1 never, (B, T).
        worst: largest possible regret of each round, (B, T) or (B, 1).
    """
    horizon = regret.shape[1]
    arrival = np.arange(horizon) + delay
    trial, played = ((delay >= 0) & (arrival < horizon)).nonzero()
    best = np.full(regret.shape, np.inf)
    np.minimum.at(best, (trial, arrival[trial, played]), regret[trial, played])
    best = np.minimum.accumulate(best, axis=1)
    return np.where(np.isfinite(best), best, worst)


def _checked_alarms(rounds: Any, horizon: int) -> Any:
    """Raise unless they are ascending rounds of the trial, or None."""
    if rounds is None:
        return None
    valid = all(is_integer(round_) and 0 <= round_ < horizon for round_ in rounds)
    valid = valid and all(a < b for a, b in pairwise(rounds))
    require(valid, "alarms of an agent", f"a trial's ascending rounds in 0..{horizon - 1}", rounds)
    return rounds
