"""Centre and scale of what is modelled: as the user gives them, else as the uniform first plays tell them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints

from ..model.units import PriorUnits, Units, mean_and_deviation

if TYPE_CHECKING:
    from ..model.model import Model

FEWEST = 2  # values that tell a scale
Values = float | Sequence[float] | Floats


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

    def in_units(self, unit: float | Floats) -> GivenUnits:
        """The same in prior deviations, of the one quantity or of each, (K,)."""
        both = (self.centre, self.scale)
        return GivenUnits(*(None if each is None else np.divide(each, unit) for each in both))

    def completed_by(self, found: Units) -> Units:
        """What is given, and what was found where nothing is."""
        pairs = zip((self.centre, self.scale), found, strict=True)
        return Units(*(x if given is None else np.full(x.shape, given, dtype=float) for given, x in pairs))


class FirstPlays:
    """K quantities of the first plays of B trials, as far as they have come.

    Args:
        num_trials, quantities: B, K.
        count: number of first plays.
        prior: means of the quantities before anything has come, (K,); default 0.
    """

    def __init__(
        self,
        num_trials: int,
        quantities: int,
        count: int,
        prior: Floats | None = None,
    ):
        self.count = count
        self.prior = np.zeros(quantities) if prior is None else prior
        self.values = np.full((num_trials, quantities, count), np.nan)  # NaN where nothing has come
        self._since = np.zeros(num_trials, dtype=np.int64)  # round of the first of them

    def receive(self, trial: Ints, rounds: Ints, values: Floats) -> None:
        """Keep those of (n, K) values that belong to first plays; older plays may be recalled."""
        place = rounds - self._since[trial]
        early = (place >= 0) & (place < self.count)
        self.values[trial[early], :, place[early]] = values[early]

    def end_with(self, rounds: int) -> Bools:
        """Whether round number `rounds` = 1, 2, ... was the last of the first plays, (B,)."""
        return rounds - self._since == self.count

    def forget(self, trial: Ints, rounds: int) -> None:
        """Begin anew in some trials, (n,), after so many rounds."""
        self.values[trial] = np.nan
        self._since[trial] = rounds

    def units(self, weight: Floats) -> Units:
        """Mean and deviation of a weighted sum, weights (B, K) -> (B,) each; where unknown, the prior's."""
        value = (weight[:, :, None] * self.values).sum(axis=1)
        mean, deviation = mean_and_deviation(value.T, FEWEST)
        told = deviation > 0
        return Units(np.where(told, mean, weight @ self.prior), np.where(told, deviation, 1.0))

    def spread(self) -> Floats:
        """Deviation of each quantity, 1 where it is unknown, (B, K)."""
        quantities = np.eye(len(self.prior))
        each = [self.units(np.tile(one, (len(self.values), 1))).scale for one in quantities]
        return np.stack(each, axis=1)


def first_plays_of(model: Model, prior: PriorUnits, num_trials: int) -> FirstPlays:
    """Room for what the uniform plays of a model earn in rewards and costs."""
    return FirstPlays(num_trials, len(prior.centres), model.initial, prior.centres)
