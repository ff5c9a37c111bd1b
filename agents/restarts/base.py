"""The interface of restarts, which start trials over, and restarts at given rounds or at ends of batches."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from bandit_envs.basics.arguments import require_at_least_one
from bandit_envs.basics.options import Checked, not_negative, positive
from bandit_envs.basics.types import Bools, Ints
from bandit_envs.problem.setting import Setting

from ..model.model import Model
from ..model.rounds import Delivery
from ..options import PerTrial

NO_TRIALS = np.empty(0, dtype=np.int64)
Wait = Callable[[int], int]  # from the rounds t up to the end of a batch without extension


class Restart:
    """Rule that observes the rounds of B trials and selects those that start over.

    It is built from the model and the number of trials B, and built again at every reset. It observes what
    agents observe, and the truth too if it is `privileged`.
    """

    privileged: bool = False  # True if it needs the truth
    exploring: Bools | None = None  # trials that play any arm in this round, (B,); None is no trial
    alarms: list[list[int]] | None = None  # rounds (0-based) after which each trial detected a change
    ends: Collection[int] = ()  # rounds 1, 2, ... after which a batch ends, if they are given
    kept_from: Ints | None = None  # first round whose plays a trial that starts over keeps and receives again

    @property
    def recalled(self) -> list[Ints] | None:
        """Rounds of older plays that are used again in addition to kept ones, (n,) of each trial.

        None for none of any trial. Their feedback is not received again.
        """
        return None

    def keep_nothing(self) -> None:
        """Disable reuse, for agents that keep no plays when a trial starts over."""

    def play(self, point: Ints) -> None:
        """Record that every trial has just played a point, (B,)."""

    def receive(self, delivery: Delivery) -> None:
        """Record what was delivered of plays since the last restart."""

    def end_round(self, rounds: int, info: dict[str, Any]) -> Ints:
        """Return the trials that start over after round number `rounds` = 1, 2, ..., ascending, (n,)."""
        return NO_TRIALS

    def forget(self, trial: Ints) -> None:
        """Restart trials, (n,), for any reason."""


class Never(Restart):
    """Rule that never restarts."""

    def __init__(self, model: Model, num_trials: int):
        pass


class Periodic(Restart):
    """Rule that restarts every trial after each `every` rounds, a number or one a trial (B,)."""

    def __init__(self, model: Model, num_trials: int, every: PerTrial):
        require_at_least_one("every", every, "it is the number of rounds between restarts")
        if np.asarray(every).dtype.kind not in "iu":
            raise ValueError(f"every must be an integer, got {every!r}; it is a number of rounds")
        self.every = np.broadcast_to(every, num_trials)

    def end_round(self, rounds: int, info: dict[str, Any]) -> Ints:
        return (rounds % self.every == 0).nonzero()[0]


class Oracle(Restart):
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


@dataclass(frozen=True)
class SubExponential(Checked):
    r"""u = ceil(E d + max(sqrt(2 xi^2 L), 2 b L)), L = log(3 t / (2 late)) (Vakili et al. 2023).

    P(d > u) <= e^-L where log E exp(s (d - E d)) <= s^2 xi^2 / 2 for s in [0, 1 / b]. The authors' code takes
    the smaller of the two terms in place of the larger, which breaks the bound.
    """

    mean: Annotated[float, not_negative("it is that of the delays")]  # E d
    xi: Annotated[float, not_negative("it is a scale of the delays")]  # see `of_poisson`
    b: Annotated[float, positive("it is a scale of the delays")]
    late: float  # 3/2 of the bound on the probability that any of t plays is late

    @classmethod
    def of_poisson(cls, mean: float, late: float) -> SubExponential:
        """Return the extension with xi^2 = 2 (e - 2) E d, b = 1, since e^s - 1 - s <= (e - 2) s^2 up to 1."""
        return cls(mean, math.sqrt(2.0 * (math.e - 2.0) * mean), 1.0, late)

    def __call__(self, t: int) -> int:
        nats = math.log(3.0 * t / (2.0 * self.late))
        return math.ceil(self.mean + max(math.sqrt(2.0 * nats) * self.xi, 2.0 * self.b * nats))


def quantile_wait(setting: Setting, late: float, t: int) -> int:
    """Return the smallest u with P(d > u) <= 2 late / (3 t) under the published law, `late` as above."""
    law, share = setting.delay, 2.0 * late / (3.0 * t)
    assert law is not None
    return law.window(setting.horizon, setting.query_times, min(share, 0.49))


class BatchEnds(Restart):
    """Rule that restarts every trial at the end of each batch but the last, given their lengths."""

    def __init__(self, model: Model, num_trials: int, lengths: Sequence[int]):
        self.ends = set(np.cumsum(lengths)[:-1].tolist())
        self._all_trials = np.arange(num_trials)

    def end_round(self, rounds: int, info: dict[str, Any]) -> Ints:
        return self._all_trials if rounds in self.ends else NO_TRIALS


def growing_lengths(horizon: int, extra: Callable[[int], int] | None = None) -> list[int]:
    """Return n_1 = ceil(sqrt T), n_i = ceil(sqrt(T n_{i-1})), the last cut at T: about log log T batches.

    The lengths are those of Li & Scarlett's BPE (2022) from memory, with N_0 = 1, and of MR-LPF. `extra` are
    rounds of a batch to wait for feedback, from the rounds up to its end without them.
    """
    lengths, left, latest = [], horizon, 1
    while left:
        latest = math.ceil(math.sqrt(horizon * latest))
        more = 0 if extra is None else extra(horizon - left + latest)
        lengths.append(min(latest + more, left))
        left -= lengths[-1]
    return lengths


def doubling_lengths(horizon: int, first: int) -> list[int]:
    """Return n_1, 2 n_1, 4 n_1, ..., cut at T: at most 1 + log2 T batches (Iwazaki & Takeno 2025)."""
    lengths, left, latest = [], horizon, int(first)
    while left:
        lengths.append(min(latest, left))
        left, latest = left - lengths[-1], 2 * latest
    return lengths
