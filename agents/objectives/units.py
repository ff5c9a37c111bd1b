"""Centre and scale of what is modelled: as the user gives them, else as the uniform first plays tell them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints

FEWEST = 2  # values that tell a scale
Values = float | Sequence[float] | Floats


class Units(NamedTuple):
    """A value y is modelled as (y - centre) / scale."""

    centre: Floats  # (B,), or (B, K) of K quantities
    scale: Floats  # the same

    def where(self, trials: Bools, other: Units) -> Units:
        """These in some trials, (B,), and others elsewhere."""
        return Units(*(np.where(_column(trials, x), x, y) for x, y in zip(self, other, strict=True)))


@dataclass(frozen=True)
class GivenUnits:
    """What the user says of the units, a number for all quantities or one each.

    Args:
        centre: m, the prior mean; None if the first plays are to tell it.
        scale: s, the prior deviation; None likewise.
    """

    centre: Values | None = None
    scale: Values | None = None

    def of_trial(self, trial: int) -> GivenUnits:
        """The same: numbers are one a quantity, not one a trial."""
        return self

    def require(self, quantities: int) -> None:
        """Raise unless what is given are finite numbers for so many quantities, and scales are positive."""
        for name, given in (("centre", self.centre), ("scale", self.scale)):
            values = np.asarray(0.5 if given is None else given)
            fits = values.shape == () or values.shape == (quantities,) != (1,)
            if values.dtype.kind not in "iuf" or not fits or not np.isfinite(values).all():
                many = f" or {quantities} of them, reward first" if quantities > 1 else ""
                raise ValueError(f"{name} must be a finite number{many}, got {given!r}")
            if name == "scale" and not (values > 0).all():
                raise ValueError(f"scale must be positive, got {given!r}; it divides what is modelled")

    def over(self, found: Units) -> Units:
        """What is given, and what was found where nothing is."""
        pairs = zip((self.centre, self.scale), found, strict=True)
        return Units(*(x if given is None else np.full(x.shape, given, dtype=float) for given, x in pairs))


class FirstPlays:
    """K quantities of the first plays of B trials, as far as they have come.

    Args:
        num_trials, quantities: B, K.
        first: number of first plays.
    """

    def __init__(self, num_trials: int, quantities: int, first: int):
        self.first = first
        self.values = np.full((num_trials, quantities, first), np.nan)  # NaN where nothing has come
        self._since = np.zeros(num_trials, dtype=np.int64)  # round of the first of them

    def receive(self, trial: Ints, rounds: Ints, values: Floats) -> None:
        """Keep those of (n, K) values that belong to first plays."""
        place = rounds - self._since[trial]
        early = place < self.first
        self.values[trial[early], :, place[early]] = values[early]

    def over(self, rounds: int) -> Bools:
        """Whether exactly the first plays have been played after so many rounds, (B,)."""
        return rounds - self._since == self.first

    def forget(self, trial: Ints, rounds: int) -> None:
        """Begin anew in some trials, (n,), after so many rounds."""
        self.values[trial] = np.nan
        self._since[trial] = rounds

    def standard(self, weight: Floats) -> Units:
        """Mean and deviation of a weighted sum, weights (B, K) -> (B,) each; 0 and 1 where unknown."""
        value = (weight[:, :, None] * self.values).sum(axis=1)
        known = np.isfinite(value)
        count = np.maximum(known.sum(axis=1), 1)
        mean = np.where(known, value, 0.0).sum(axis=1) / count
        gap = np.where(known, value - mean[:, None], 0.0)
        _, power = np.frexp(np.abs(gap).max(axis=1, initial=0.0))  # taken out before a square can overflow,
        square = (np.ldexp(gap, -power[:, None]) ** 2).sum(axis=1)  # as a power of 2: nothing is rounded
        deviation = np.ldexp(np.sqrt(square / np.maximum(count - 1, 1)), power)
        enough = (count >= FEWEST) & (deviation > 0)
        return Units(np.where(enough, mean, 0.0), np.where(enough, deviation, 1.0))


def _column(trials: Bools, like: Floats) -> Bools:
    return trials.reshape(-1, *[1] * (like.ndim - 1))
