"""Elimination of arms at the ends of batches whose plays depend on no value, of drifting functions too."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints

from ..model.defaults import rests_on_default
from ..model.model import Model
from ..model.rounds import Delivery
from ..posteriors import Posterior
from ..posteriors.base import observe
from .base import make_posterior, successor
from .imputed import Hallucinated

# From sigma and |a_x| to half-widths of a band for plays that were chosen without using values, (B, A) each.
HalfWidth = Callable[[Floats, Floats], Floats]
# From sigma, |a_x| and sum_j |a_x,j|, (B, A) each, and V to half-widths for the average function of a batch.
DriftHalfWidth = Callable[[Floats, Floats, Floats, float], Floats]


class Eliminating(Hallucinated):
    """Belief that eliminates, at the end of a batch, arms whose upper bound is below another's lower bound.

    A restart of a trial ends a batch: then A <- {x in A: mu + W >= max_A (mu - W)}, where mu and W come from
    the delivered values of this batch. Until then stds are those of all plays of the batch, delivered or not,
    so that plays depend on none of its values. The mean, for recommendations, is that of all values delivered
    before their batch ended; arms are eliminated separately in each context.
    """

    slack = 0.0  # by which an upper bound may be below the largest lower bound

    def __init__(self, model: Model, num_trials: int, band_of: Callable[[Model], Callable[..., Floats]]):
        super().__init__(model, num_trials)
        self._batch = make_posterior(model, num_trials)
        self._band_of, self._band = band_of, band_of(model)
        self._active = np.ones((num_trials, self.decisions.num_contexts, self.decisions.num_arms), dtype=bool)

    @property
    def assumes_bound(self) -> bool:
        """True where W uses a default bound."""
        return rests_on_default(self._band)

    @property
    def band(self) -> tuple[Floats, Floats]:
        """Mean and W of this batch's values at all points, (B, N) each; valid only at the batch's end."""
        mean = self._batch.mean_at(None) + self.prior_mean
        std = np.sqrt(np.maximum(self._batch.variance_at(None), 0.0))
        return mean, self._band(std, self._batch.weight_norm_at(None))

    def active(self, context: Ints) -> Bools:
        return self._active[self.rows, context]

    def receive(self, delivery: Delivery) -> None:
        """Condition on values of this batch; VA-PE where plays differ in noise (Iwazaki & Takeno 2025)."""
        trial, point, value, weight = delivery.trial, delivery.point, delivery.reward, delivery.weight
        super().receive(delivery)
        observe(self._batch, trial, point, self.residual(trial, point, value), self.weights(point, weight))

    def remodel(self, model: Model) -> None:
        before = self.prior_mean
        super().remodel(model)
        self._batch = successor(self._batch, model, self.prior_mean - before)
        self._band = self._band_of(model)

    def forget(self, trial: Ints) -> None:
        """Eliminate arms by this batch, and begin another."""
        mean, half = (each[trial] for each in self.band)
        shape = self._active[trial].shape
        upper, lower = (mean + half).reshape(shape), (mean - half).reshape(shape)
        largest = np.where(self._active[trial], lower, -np.inf).max(axis=2, keepdims=True)
        self._active[trial] &= upper >= largest - self.slack
        self.std_posterior.reset(trial)
        self._batch.reset(trial)


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

    def weights(self, point: Ints, own: Floats | None = None) -> Floats | None:
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
