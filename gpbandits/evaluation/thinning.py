"""Quantities of all rounds are reduced, block by block, to the recorded rounds."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from bandit_envs.basics.arguments import require
from bandit_envs.basics.types import Floats, Ints

BLOCK = 4096  # rounds that are processed together


def blocks(horizon: int) -> Iterator[slice]:
    """Split the rounds 0..horizon-1 into blocks."""
    return (slice(start, min(start + BLOCK, horizon)) for start in range(0, horizon, BLOCK))


def recorded_in(rounds: Ints | None, block: slice) -> Ints:
    """Return the recorded rounds (counted from 1; None is all) of a block, counted from 0 in it, (r,)."""
    if rounds is None:
        return np.arange(block.stop - block.start)
    first, beyond = np.searchsorted(rounds, [block.start + 1, block.stop + 1])
    return rounds[first:beyond] - 1 - block.start


def check_rounds(name: str, rounds: Any, horizon: int) -> Ints:
    """Return rounds to record as an array, or raise unless they increase from at least 1 to the horizon."""
    given = np.asarray(rounds)
    switched = isinstance(rounds, list | tuple) and any(isinstance(each, bool) for each in rounds)
    integers = not switched and given.ndim == 1 and given.dtype.kind in "iu" and len(given) > 0
    valid = integers and given[0] >= 1 and given[-1] == horizon and bool((np.diff(given) > 0).all())
    require(valid, name, f"rounds that increase from at least 1 to the horizon {horizon}", rounds)
    return given.astype(np.int64)


class Sums:
    """Sums add values since the previous recorded round, so that their running sums are exact.

    They take values block by block, so that a run in progress and a whole one in memory agree bit for bit.
    """

    def __init__(self) -> None:
        self._rest: Floats | None = None  # (B, ...) since the last recorded round, if there are such rounds

    def take(self, values: Floats, recorded: Ints) -> Floats:
        """Return the sums that end at the recorded rounds, (r,), of a block, (B, n, ...) -> (B, r, ...)."""
        starts = np.r_[0, recorded + 1]
        starts = starts[starts < values.shape[1]]
        sums = np.add.reduceat(values, starts, axis=1)
        if self._rest is not None:
            sums[:, 0] += self._rest
        self._rest = sums[:, -1] if len(starts) > len(recorded) else None
        return sums[:, : len(recorded)]


def sums_between(values: Floats, rounds: Ints) -> Floats:
    """Return the `Sums` of all rounds at once, (B, T, ...) -> (B, r, ...)."""
    kept = Sums()
    parts = [kept.take(values[:, each], recorded_in(rounds, each)) for each in blocks(values.shape[1])]
    return np.concatenate(parts, axis=1)
