"""Elimination of arms while the function drifts: batches in random order, slack for the drift, restarts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from bandit_envs.basics.types import Floats, Ints

from ..model.model import Model
from ..posteriors import Posterior
from .eliminating import Eliminating

# From sigma, |a_x| and sum_j |a_x,j|, (B, A) each, and V to half-widths for the average function of a batch.
DriftHalfWidth = Callable[[Floats, Floats, Floats, float], Floats]


class Phase(NamedTuple):
    """Batch of plays in a drifting function."""

    plays: int
    variation: float  # V, the most that the function differs between two of its rounds at any point
    restarts: bool  # whether all arms are active again after it


class DriftingBatches(Eliminating):
    """Belief that eliminates arms of the average function of a batch, with a slack of 2 V, and restarts.

    An arm that is the best in any round of the batch has an average within 2 V of the largest, since each
    function is within V of the average: while bands hold it is not eliminated in this batch. Later it may
    have become the best again, which only a restart undoes. All plays count with the largest noise.
    """

    weighs = False

    def __init__(
        self,
        model: Model,
        num_trials: int,
        band_of: Callable[[Model], DriftHalfWidth],
        phases: Sequence[Phase],
    ):
        super().__init__(model, num_trials, band_of)
        self._phases, self._ended = list(phases), 0

    @property
    def phase(self) -> Phase:
        """The present batch."""
        return self._phases[min(self._ended, len(self._phases) - 1)]

    @property
    def band(self) -> tuple[Floats, Floats]:
        """Mean and half-width of the average function of this batch at all points, (B, N) each."""
        batch = self._batch
        std = np.sqrt(np.maximum(batch.variance_at(None), 0.0))
        weights = batch.weight_norm_at(None), weight_sum(batch)
        return batch.mean_at(None) + self.prior_mean, self._band(std, *weights, self.phase.variation)

    def weights(self, point: Ints, told: Floats | None = None) -> Floats | None:
        """Return None: what plays of less noise would gain is not in the bands."""
        return None

    @property
    def slack(self) -> float:
        """2 V."""
        return 2.0 * self.phase.variation

    def forget(self, trial: Ints) -> None:
        """Eliminate arms by this batch, or after the last one of a block take all again."""
        super().forget(trial)
        if self.phase.restarts:
            self._active[trial] = True
        self._ended += 1


def weight_sum(posterior: Posterior) -> Floats:
    """sum_j |a_x,j| over the observations at all points, (B, N), a_x as in `weight_norm_at`."""
    everywhere, sums = np.arange(posterior.gram.size), []
    for i, noise in enumerate(posterior.noise):
        seen = posterior.statistics(i)
        sums.append(np.abs(posterior.covariance(i, everywhere, seen.point)) @ seen.plays / noise)
    return np.array(sums)
