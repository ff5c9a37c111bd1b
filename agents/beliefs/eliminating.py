"""Arms that may still be the best, found in batches of plays that look at no value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints

from ..model.bounds import rests_on_default
from ..model.model import Model
from .conditioning import make_posterior, observe, recentre, reweigh, successor, withdraw
from .delivered import Delivered


class HalfWidth(Protocol):
    """How far the function may be from the mean of plays that were chosen without looking at values."""

    def __call__(self, std: Floats, weight_norm: Floats) -> Floats:
        """Return half-widths from sigma and |a_x|, (B, A) each."""
        ...


class Eliminating(Delivered):
    """Strikes off, at the end of a batch, arms whose upper bound is below another's lower bound.

    A trial that starts over ends a batch: then A <- {x in A: mu + W >= max_A (mu - W)}, where mu and W come
    from the values of this batch that have arrived. Until then deviations are those of all plays of the
    batch, delivered or not, so that plays depend on no value of it. The mean is that of all values in time
    for their batch, to recommend by; the best arm is looked for in each context.

    Args:
        model: kernel, noise and prior mean.
        num_trials: B.
        band_of: makes W from the model.
    """

    def __init__(self, model: Model, num_trials: int, band_of: Callable[[Model], HalfWidth]):
        super().__init__(model, num_trials)
        self.spread, self._batch = (make_posterior(model, num_trials) for _ in range(2))
        self._band_of, self._band = band_of, band_of(model)
        self._nothing = np.zeros(num_trials)
        self._active = np.ones((num_trials, self.decisions.num_contexts, self.decisions.num_arms), dtype=bool)

    @property
    def assumes_bound(self) -> bool:
        """Whether W does."""
        return rests_on_default(self._band)

    @property
    def band(self) -> tuple[Floats, Floats]:
        """Mean and W of this batch's values at all points, (B, N) each; a promise at its end alone."""
        mean = self._batch.mean_at(None) + self.prior_mean
        std = np.sqrt(np.maximum(self._batch.variance_at(None), 0.0))
        return mean, self._band(std, self._batch.weight_norm_at(None))

    def active(self, context: Ints) -> Bools:
        """Whether the arms of each trial's context may still be the best, (B,) -> (B, A)."""
        return self._active[self.rows, context]

    def play(self, point: Ints) -> None:
        """Count the play; what it yields does not matter for the deviation."""
        observe(self.spread, self.rows, point, self._nothing, self.weights(point))

    def receive(
        self, trial: Ints, point: Ints, delay: Ints | Floats, value: Floats, weight: Floats | None = None
    ) -> None:
        """Observe values of this batch; VA-PE where plays differ in noise (Iwazaki & Takeno 2025)."""
        super().receive(trial, point, delay, value, weight)
        observe(self._batch, trial, point, self.residual(trial, point, value), self.weights(point, weight))
        if weight is not None:
            reweigh(self.spread, trial, point, self.weights(point), weight)

    def drop(self, trial: Ints, point: Ints, ago: Ints) -> None:
        """Count the plays no longer."""
        withdraw(self.spread, trial, point, np.zeros(len(point)), self.weights(point))

    def remodel(self, model: Model) -> None:
        """Go over to another kernel, noise and prior mean; what was struck off stays so."""
        before = self.prior_mean
        super().remodel(model)
        self._batch, self._band = successor(self._batch, model), self._band_of(model)
        recentre(self._batch, self.prior_mean - before)

    def forget(self, trial: Ints) -> None:
        """Strike off what this batch rules out, and begin another."""
        mean, half = (each[trial] for each in self.band)
        shape = self._active[trial].shape
        upper, lower = (mean + half).reshape(shape), (mean - half).reshape(shape)
        largest = np.where(self._active[trial], lower, -np.inf).max(axis=2, keepdims=True)
        self._active[trial] &= upper >= largest
        self.spread.reset(trial)
        self._batch.reset(trial)
