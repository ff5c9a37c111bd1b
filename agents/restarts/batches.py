"""Batches of rounds, at whose ends trials start over."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bandit_envs.basics.arguments import require_integer
from bandit_envs.basics.types import Ints

from .base import NO_TRIALS, Unobservant

if TYPE_CHECKING:
    from ..model.model import Model


class BatchEnds(Unobservant):
    """Rule that restarts every trial at the end of each batch but the last.

    Args:
        model: not used.
        num_trials: B.
        lengths: rounds of the batches.
    """

    def __init__(self, model: Model, num_trials: int, lengths: Sequence[int]):
        self.ends = set(np.cumsum(lengths)[:-1].tolist())
        self._all_trials = np.arange(num_trials)

    def end_round(self, rounds: int, info: dict[str, Any]) -> Ints:
        """Return all trials at the end of a batch."""
        return self._all_trials if rounds in self.ends else NO_TRIALS


def growing_lengths(horizon: int, extra: Callable[[int], int] | None = None) -> list[int]:
    """Return n_1 = ceil(sqrt T), n_i = ceil(sqrt(T n_{i-1})), the last cut at T: about log log T batches.

    The lengths are those of Li & Scarlett's BPE (2022) from memory, with N_0 = 1, and of MR-LPF.

    Args:
        horizon: T.
        extra: additional rounds of a batch to wait for feedback, from the rounds up to its end without them;
            default none.
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
    require_integer("first", first, 1, "it is the number of plays of the first batch")
    lengths, left, latest = [], horizon, first
    while left:
        lengths.append(min(latest, left))
        left, latest = left - lengths[-1], 2 * latest
    return lengths
