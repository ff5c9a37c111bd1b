"""Sums of outcomes by point, and the centre and scale of a quantity by its first plays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints

from ..model.units import Units, mean_and_std
from ..posteriors import SufficientStatistics

FEWEST = 2  # values that a scale is estimated from
Values = float | Sequence[float] | Floats


class Ledger:
    """Numbers of delivered plays of each point, and the sums of K quantities over them; N grows on a box."""

    def __init__(self, num_trials: int, quantities: int, num_points: int):
        self.plays = np.zeros((num_trials, num_points))
        self.total = np.zeros((num_trials, quantities, num_points))

    def add(self, trial: Ints, point: Ints, values: Floats) -> None:
        """Add the outcomes of plays, (n,) and (n, K)."""
        self._reserve(point)
        np.add.at(self.plays, (trial, point), 1.0)
        for k, column in enumerate(values.T):
            np.add.at(self.total[:, k], (trial, point), column)

    def weighted(self, trial: int, point: Ints, weight: Floats, shift: float) -> SufficientStatistics:
        """Return sums of weight'y - shift over the delivered plays of a trial's points, weights (K,).

        Points may be pending, or new on a box: they have no delivered plays.
        """
        self._reserve(point)
        plays = self.plays[trial, point]
        return SufficientStatistics(point, plays, weight @ self.total[trial][:, point] - shift * plays)

    def forget(self, trial: Ints) -> None:
        """Clear the sums of some trials, (n,)."""
        self.plays[trial] = self.total[trial] = 0.0

    def _reserve(self, point: Ints) -> None:
        needed, old = 1 + int(point.max(initial=-1)), self.plays.shape[1]
        if needed > old:
            more = max(needed, 2 * old) - old
            self.plays = np.pad(self.plays, ((0, 0), (0, more)))
            self.total = np.pad(self.total, ((0, 0), (0, 0), (0, more)))


@dataclass(frozen=True)
class GivenUnits:
    """Units given by the user, a number for all quantities or one each; None where first plays tell."""

    centre: Values | None = None
    scale: Values | None = None

    def require(self, quantities: int) -> None:
        """Raise unless the numbers are finite, as many as quantities or one, and scales are positive."""
        for name, given in (("centre", self.centre), ("scale", self.scale)):
            values = np.asarray(0.5 if given is None else given)
            fits = values.shape == () or values.shape == (quantities,) != (1,)
            if values.dtype.kind not in "iuf" or not fits or not np.isfinite(values).all():
                many = f" or {quantities} of them, reward first" if quantities > 1 else ""
                raise ValueError(f"{name} must be a finite number{many}, got {given!r}")
            if name == "scale" and not (values > 0).all():
                raise ValueError(f"scale must be positive, got {given!r}; it divides the modelled quantity")

    def in_units(self, unit: float | Floats) -> GivenUnits:
        """Return these units in prior stds, of the one quantity or of each, (K,)."""
        both = (self.centre, self.scale)
        return GivenUnits(*(None if each is None else np.divide(each, unit) for each in both))

    def completed_by(self, found: Units) -> Units:
        """Return the given units, completed by estimates."""
        pairs = zip((self.centre, self.scale), found, strict=True)
        return Units(*(x if given is None else np.full(x.shape, given, dtype=float) for given, x in pairs))


class FirstPlays:
    """Delivered values of K quantities of the first plays of B trials, and their means before, (K,)."""

    def __init__(self, num_trials: int, quantities: int, count: int, prior: Floats | None = None):
        self.count = count
        self.prior = np.zeros(quantities) if prior is None else prior
        self.values = np.full((num_trials, quantities, count), np.nan)  # NaN before delivery
        self._since = np.zeros(num_trials, dtype=np.int64)  # round of the first of these plays
        self._dropped = np.zeros((num_trials, count), dtype=bool)  # those that will never be delivered

    def add(self, trial: Ints, rounds: Ints, values: Floats) -> None:
        """Store those of (n, K) values that belong to first plays; older plays may be delivered again."""
        place = rounds - self._since[trial]
        early = (place >= 0) & (place < self.count)
        self.values[trial[early], :, place[early]] = values[early]

    def drop(self, trial: Ints, rounds: Ints) -> None:
        """Record that plays of some rounds will never be delivered, (n,) each."""
        place = rounds - self._since[trial]
        early = (place >= 0) & (place < self.count)
        self._dropped[trial[early], place[early]] = True

    def over(self, rounds: int, longest: int) -> Bools:
        """Return where no value can follow after round number `rounds`, under this longest delay, (B,)."""
        none_left = (np.isfinite(self.values[:, 0]) | self._dropped).all(axis=1)
        return none_left | (rounds - self._since >= self.count + longest)

    @property
    def delivered(self) -> Ints:
        """Return the number of first plays delivered so far, (B,)."""
        return np.isfinite(self.values[:, 0]).sum(axis=1)

    def end_with(self, rounds: int) -> Bools:
        """Return where round number `rounds` = 1, 2, ... was the last of the first plays, (B,)."""
        return rounds - self._since == self.count

    def forget(self, trial: Ints, rounds: int) -> None:
        """Clear the store of some trials, (n,), after so many rounds."""
        self.values[trial], self._dropped[trial] = np.nan, False
        self._since[trial] = rounds

    def units(self, weight: Floats) -> Units:
        """Return mean and std of a weighted sum, weights (B, K) -> (B,) each; the prior's where unknown."""
        value = (weight[:, :, None] * self.values).sum(axis=1)
        mean, deviation = mean_and_std(value.T, FEWEST)
        told = deviation > 0
        return Units(np.where(told, mean, weight @ self.prior), np.where(told, deviation, 1.0))

    def of_each(self) -> Units:
        """Return mean and std of each quantity, the prior's and 1 where they are unknown, (B, K) each."""
        each = [self.units(np.tile(one, (len(self.values), 1))) for one in np.eye(len(self.prior))]
        return Units(*(np.stack(column, axis=1) for column in zip(*each, strict=True)))

    def spread(self) -> Floats:
        """Return the std of each quantity, (B, K)."""
        return self.of_each().scale
