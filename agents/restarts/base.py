"""When an agent starts over, because the functions it learns may have changed."""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING, Any

import numpy as np

from bandit_envs.basics.arguments import require_at_least_one
from bandit_envs.basics.types import Bools, Floats, Ints

from ..validation import PerTrial

if TYPE_CHECKING:
    from ..model.model import Model

NOBODY = np.empty(0, dtype=np.int64)


class Restart(abc.ABC):
    """Watches the rounds of B trials and names those that start over.

    It is built from the model and the number of trials B, and built again at every reset. It is shown what
    agents are shown, or the truth too if it is `privileged`.
    """

    privileged: bool = False  # whether it needs the truth

    @property
    def alarms(self) -> list[list[int]] | None:
        """Rounds (0-based) after which each trial noticed a change; None if it does not look for any."""
        return None

    @property
    def exploring(self) -> Bools | None:
        """Which trials play any arm in this round, whatever they believe, (B,); None is no trial."""
        return None

    @property
    def kept_from(self) -> Ints | None:
        """The first round whose plays are kept where a trial starts over, (B,); None keeps none.

        A restart that keeps plays is shown what came of them again.
        """
        return None

    @property
    def recalled(self) -> list[Ints] | None:
        """The rounds of older plays that count again beside those that are kept, (n,) of each trial.

        None is none of any trial. What came of them is not shown again.
        """
        return None

    def keep_nothing(self) -> None:  # noqa: B027 (most need not know)
        """The agent keeps no plays where a trial starts over: nothing can be recalled."""

    @abc.abstractmethod
    def play(self, point: Ints) -> None:
        """Every trial has just played a point, (B,)."""

    @abc.abstractmethod
    def receive(self, trial: Ints, point: Ints, rounds: Ints, reward: Floats, cost: Floats) -> None:
        """Rewards (n,) and costs (n, C) of plays since the last restart arrive; trials ascend."""

    @abc.abstractmethod
    def end_round(self, rounds: int, info: dict[str, Any]) -> Ints:
        """After round number `rounds` = 1, 2, ...: the trials that start over, ascending, (n,)."""

    @abc.abstractmethod
    def forget(self, trial: Ints) -> None:
        """Trials start over, (n,), for whatever reason."""


class Unobservant(Restart):
    """A restart that does not look at what plays earn: when trials start over is all there is to say."""

    def play(self, point: Ints) -> None:
        """Nothing to keep."""

    def receive(self, trial: Ints, point: Ints, rounds: Ints, reward: Floats, cost: Floats) -> None:
        """Nothing to keep."""

    def forget(self, trial: Ints) -> None:
        """Nothing to forget."""


class Never(Unobservant):
    """No restart.

    Args:
        model, num_trials: not needed; every restart is built from them.
    """

    def __init__(self, model: Model, num_trials: int):
        pass

    def end_round(self, rounds: int, info: dict[str, Any]) -> Ints:
        """Nobody."""
        return NOBODY


class Periodic(Unobservant):
    """Every trial starts over every `every` rounds, a number or one a trial (B,)."""

    def __init__(self, model: Model, num_trials: int, every: PerTrial):
        require_at_least_one("every", every, "it is the number of rounds between restarts")
        if np.asarray(every).dtype.kind not in "iu":
            raise ValueError(f"every must be an integer, got {every!r}; it is a number of rounds")
        self.every = np.broadcast_to(every, num_trials)

    def end_round(self, rounds: int, info: dict[str, Any]) -> Ints:
        """The trials whose time it is."""
        return (rounds % self.every == 0).nonzero()[0]


class Oracle(Unobservant):
    """Starts over when the truth in `info` says that a new segment has begun.

    `info` tells the segment of the round just played, so a change is known after its first round; the
    paper's oracle knows it before, and would play this round uniformly.
    """

    privileged = True

    def __init__(self, model: Model, num_trials: int):
        self._segment = np.zeros(num_trials, dtype=np.int64)

    def end_round(self, rounds: int, info: dict[str, Any]) -> Ints:
        """The trials whose segment is not the last round's."""
        if "oracle" not in info:
            raise ValueError('info must hold "oracle": make the environment with oracle=True')
        segment = np.atleast_1d(info["oracle"]["segment"])
        changed = (segment != self._segment).nonzero()[0]
        self._segment = segment.copy()
        return changed
