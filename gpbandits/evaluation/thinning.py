"""Checkpoints are the rounds that are recorded, to which quantities of all rounds are reduced by block."""

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from bandit_envs.basics.arguments import require
from bandit_envs.basics.types import Floats, Ints

BLOCK = 4096  # rounds that are processed together
SPACINGS = ("log", "every")


@dataclasses.dataclass(frozen=True)
class Checkpoints:
    """Record about `per_decade` rounds in each decade of t ("log"), or all rounds ("every")."""

    spacing: str = "log"
    per_decade: int = 50

    def __post_init__(self) -> None:
        if self.spacing not in SPACINGS:
            raise ValueError(f"spacing must be one of {', '.join(SPACINGS)}, got {self.spacing!r}")
        require(self.per_decade >= 1, "per_decade", "at least 1", self.per_decade)

    @property
    def of_run(self) -> Callable[[int], Ints] | None:
        """Return the function from a horizon to the recorded rounds; None records all."""
        return None if self.spacing == "every" else self.rounds

    def rounds(self, horizon: int) -> Ints:
        """Return logarithmically spaced rounds from 1 to the horizon, (R,)."""
        count = 1 + int(np.ceil(self.per_decade * np.log10(horizon)))
        return np.unique(np.rint(np.geomspace(1, horizon, count)).astype(np.int64))


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
    switched = isinstance(rounds, list | tuple) and any(isinstance(each, bool | np.bool_) for each in rounds)
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
