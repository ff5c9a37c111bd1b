"""The interface of restarts, which start trials over when their functions may have changed."""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING, Any

import numpy as np

from bandit_envs.basics.arguments import require_at_least_one
from bandit_envs.basics.types import Bools, Floats, Ints

from ..validation import PerTrial

if TYPE_CHECKING:
    from ..model.model import Model

__all__ = ["Never", "Oracle", "Periodic", "Restart", "Unobservant"]

NO_TRIALS = np.empty(0, dtype=np.int64)


class Restart(abc.ABC):
    """Rule that observes the rounds of B trials and selects those that start over.

    It is built from the model and the number of trials B, and built again at every reset. It observes what
    agents observe, and the truth too if it is `privileged`.
    """

    privileged: bool = False  # True if it needs the truth
    exploring: Bools | None = None  # trials that play any arm in this round, (B,); None is no trial
    alarms: list[list[int]] | None = None  # rounds (0-based) after which each trial detected a change
    kept_from: Ints | None = None  # first round whose plays a trial that starts over keeps and receives again

    @property
    def recalled(self) -> list[Ints] | None:
        """Rounds of older plays that are used again in addition to kept ones, (n,) of each trial.

        None for none of any trial. Their feedback is not received again.
        """
        return None

    def keep_nothing(self) -> None:  # noqa: B027 (usually a no-op)
        """Disable reuse, for agents that keep no plays when a trial starts over."""

    @abc.abstractmethod
    def play(self, point: Ints) -> None:
        """Record that every trial has just played a point, (B,)."""

    @abc.abstractmethod
    def receive(self, trial: Ints, point: Ints, rounds: Ints, reward: Floats, cost: Floats) -> None:
        """Record delivered rewards (n,) and costs (n, C) of plays since the last restart; trials ascend."""

    @abc.abstractmethod
    def end_round(self, rounds: int, info: dict[str, Any]) -> Ints:
        """Return the trials that start over after round number `rounds` = 1, 2, ..., ascending, (n,)."""

    @abc.abstractmethod
    def forget(self, trial: Ints) -> None:
        """Restart trials, (n,), for any reason."""


class Unobservant(Restart):
    """Restart that ignores feedback; a subclass defines `end_round`."""

    def play(self, point: Ints) -> None:
        """Do nothing: no state is kept."""

    def receive(self, trial: Ints, point: Ints, rounds: Ints, reward: Floats, cost: Floats) -> None:
        """Do nothing: no state is kept."""

    def forget(self, trial: Ints) -> None:
        """Do nothing: no state is kept."""


class Never(Unobservant):
    """Rule that never restarts."""

    def __init__(self, model: Model, num_trials: int):
        pass

    def end_round(self, rounds: int, info: dict[str, Any]) -> Ints:
        return NO_TRIALS


class Periodic(Unobservant):
    """Rule that restarts every trial after each `every` rounds, a number or one a trial (B,)."""

    def __init__(self, model: Model, num_trials: int, every: PerTrial):
        require_at_least_one("every", every, "it is the number of rounds between restarts")
        if np.asarray(every).dtype.kind not in "iu":
            raise ValueError(f"every must be an integer, got {every!r}; it is a number of rounds")
        self.every = np.broadcast_to(every, num_trials)

    def end_round(self, rounds: int, info: dict[str, Any]) -> Ints:
        return (rounds % self.every == 0).nonzero()[0]


class Oracle(Unobservant):
    """Rule that restarts when the truth in `info` has a new segment.

    `info` has the segment of the round just played, so a change is known after its first round; the paper's
    oracle knows it before, and would play this round uniformly.
    """

    privileged = True

    def __init__(self, model: Model, num_trials: int):
        self._segment = np.zeros(num_trials, dtype=np.int64)

    def end_round(self, rounds: int, info: dict[str, Any]) -> Ints:
        if "oracle" not in info:
            raise ValueError('info must hold "oracle": make the environment with oracle=True')
        segment = np.atleast_1d(info["oracle"]["segment"])
        changed = (segment != self._segment).nonzero()[0]
        self._segment = segment.copy()
        return changed
