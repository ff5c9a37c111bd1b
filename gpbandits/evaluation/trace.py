"""What the evaluation loop notes down round by round, and the record it becomes."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from agents.model.clock import Clock, in_time
from bandit_envs.basics.arguments import is_integer, is_number, require
from bandit_envs.basics.types import Floats, Ints
from bandit_envs.laws.changes import change_points_of
from bandit_envs.problem.setting import Setting
from gpbandits.evaluation.record import Record, ragged


class Trace:
    """The truth of every round of one episode of B trials.

    Args:
        num_trials: B; None for one environment without a trial axis.
        agent: whose episode it is; says so if it is `privileged`, to be shown the truth, or of a `track`.
    """

    def __init__(self, num_trials: int | None, agent: Any):
        self.batched, self.num_trials = num_trials is not None, num_trials or 1
        self.privileged: bool = bool(getattr(agent, "privileged", False))
        self.track: str | None = getattr(agent, "track", None)
        self.seconds = 0.0
        self.alarms: Any = [None] * self.num_trials  # of an agent without a detector
        self.window: float | None = None  # of an agent that learns whatever arrives
        self._rounds: list[tuple[Any, ...]] = []

    def note(self, info: dict[str, Any], action: Any) -> None:
        """Keep what the round's `oracle` says of a play, and the costs that arrive."""
        oracle = info["oracle"]
        seen = (oracle[key] for key in ("regret", "delay", "cost_mean", "segment"))
        observed = np.zeros_like(oracle["cost_mean"])
        if "feedback_cost" in info:
            observed = np.sum(info["feedback_cost"], axis=-2, where=info["feedback_mask"][..., None])
        # A copy: an agent may hand out the same array again and again.
        self._rounds.append((*seen, observed, np.array(action)))

    def end(self, agent: Any) -> None:
        """Ask an agent, after the episode, for its alarms and its window."""
        alarms = getattr(agent, "alarms", None)
        if alarms is not None:
            self.alarms = alarms if self.batched else [alarms]
        self.window = _checked_window(getattr(agent, "feedback_window", None))

    def record(self, setting: Setting, worst_regret: Floats | None) -> Record:
        """The record of the B trials.

        Args:
            setting: says in which units a window is.
            worst_regret: the largest possible regret of each round, (B, T), which is the simple regret
                before anything arrives; None takes the largest that occurred.
        """
        columns = (np.stack(column) for column in zip(*self._rounds, strict=True))
        regret, delay, cost, segment, observed, action = (
            _by_trial(column, self.batched) for column in columns
        )
        horizon = regret.shape[1]
        worst = regret.max(axis=1, keepdims=True) if worst_regret is None else worst_regret[:, :horizon]
        seconds = np.full(self.num_trials, self.seconds / self.num_trials)
        violation = np.linalg.norm(np.maximum(cost, 0.0), axis=2)
        return Record(
            regret,
            simple_regret(regret, learnable(delay, self.window, setting), worst),
            cost,
            violation,
            observed,
            action,
            seconds,
            changes=ragged([change_points_of(row) for row in segment]),
            alarms=ragged([_checked_alarms(rounds, horizon) for rounds in self.alarms]),
        )


def learnable(delay: Ints, window: float | None, setting: Setting) -> Ints:
    """Delays of the plays in rounds, (B, T), -1 also where feedback comes after an agent's window.

    A play that is *converted within the window* is all that such an agent can learn from (Verma et al. 2022).
    """
    if window is None:
        return delay
    played = np.arange(delay.shape[1])
    taken = Clock.of(setting).delay(played, played + delay)
    return np.where(in_time(taken, window), delay, -1)


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


def _checked_window(window: Any) -> float | None:
    """Raise unless it is a number that is not negative, or None."""
    valid = window is None or (is_number(window) and window >= 0)
    require(valid, "feedback_window of an agent", "None, 0 or positive, the same in all trials", window)
    return None if window is None else float(window)


def _checked_alarms(rounds: Any, horizon: int) -> Any:
    """Raise unless they are ascending rounds of the trial, or None."""
    if rounds is None:
        return None
    valid = all(is_integer(round_) and 0 <= round_ < horizon for round_ in rounds)
    valid = valid and all(a < b for a, b in pairwise(rounds))
    require(valid, "alarms of an agent", f"a trial's ascending rounds in 0..{horizon - 1}", rounds)
    return rounds


def _by_trial(rounds: Any, batched: bool) -> Any:
    """Entries of T rounds, (T, B, ...), or (T, ...) of one trial, as (B, T, ...)."""
    return np.ascontiguousarray(np.swapaxes(rounds, 0, 1)) if batched else rounds[None]
