"""The uniform first plays, which tell the centre and the scale of what is modelled."""

from __future__ import annotations

import numpy as np

from bandit_envs.types import Floats, Ints

FEWEST = 2  # values that tell a scale


class FirstPlays:
    """K quantities of the first plays of B trials, as far as they have come.

    Args:
        num_trials, quantities: B, K.
        first: number of first plays.
    """

    def __init__(self, num_trials: int, quantities: int, first: int):
        self.first = first
        self.values = np.full((num_trials, quantities, first), np.nan)  # NaN where nothing has come

    def receive(self, trial: Ints, rounds: Ints, values: Floats) -> None:
        """Keep those of (n, K) values that belong to first plays."""
        early = rounds < self.first
        self.values[trial[early], :, rounds[early]] = values[early]

    def standard(self, weight: Floats) -> tuple[Floats, Floats]:
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
        return np.where(enough, mean, 0.0), np.where(enough, deviation, 1.0)
