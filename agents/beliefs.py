"""What an agent believes about one unknown function, given how it treats pending feedback."""

from __future__ import annotations

import abc
from collections.abc import Iterator, Sequence

import numpy as np

from bandit_envs.types import Floats, Ints

from .model import Model
from .posteriors import Posterior, posterior


class Belief(abc.ABC):
    """Mean, deviation and samples of one function at the arms of each trial's context.

    The mean comes from `centre` and the deviation from `spread`; they may be one object. A subclass says
    what playing a point and receiving its value change.

    Args:
        model: kernel, noise and prior mean.
        centre, spread: posteriors of the function minus its prior mean.
    """

    def __init__(self, model: Model, centre: Posterior, spread: Posterior):
        self.centre, self.spread = centre, spread
        decisions = model.setting.decisions
        self.shape = len(centre.gain), decisions.num_contexts, decisions.num_arms
        self.rows = np.arange(self.shape[0])
        self.prior_mean = np.broadcast_to(np.asarray(model.prior_mean, dtype=np.float64), centre.gram.size)
        self.centred = not self.prior_mean.any()

    @abc.abstractmethod
    def play(self, point: Ints) -> None:
        """Every trial has just played a point, (B,)."""

    @abc.abstractmethod
    def receive(self, trial: Ints, point: Ints, delay: Ints, value: Floats) -> None:
        """Values arrive `delay` rounds after their points were played, (n,) each; trials ascend."""

    def mean(self, context: Ints) -> Floats:
        """Posterior mean at the arms of each trial's context, (B,) -> (B, A)."""
        mean = self.at(self.centre.mean, context)
        return mean if self.centred else mean + self.prior_mean_at(context)

    def std(self, context: Ints) -> Floats:
        """Posterior deviation of f, without noise, (B,) -> (B, A)."""
        return np.sqrt(np.maximum(self.at(self.spread.variance, context), 0.0))

    def deviation(self, context: Ints, rngs: Sequence[np.random.Generator]) -> Floats:
        """One joint sample of f - mean a trial, (B, A)."""
        return self.at(self.spread.deviation(rngs), context)

    @property
    def gain(self) -> Floats:
        """Information gain of the counted plays, (B,)."""
        return self.spread.gain

    @property
    def bias(self) -> Floats | float:
        """What censored feedback adds to the width, (B,)."""
        return 0.0

    def at(self, values: Floats, context: Ints) -> Floats:
        """The part of (B, N) that belongs to each trial's context, (B, A)."""
        return values if self.shape[1] == 1 else values.reshape(self.shape)[self.rows, context]

    def prior_mean_at(self, context: Ints) -> Floats:
        """Prior mean at the arms of each trial's context, (B, A)."""
        return self.prior_mean.reshape(self.shape[1:])[context]


class Delivered(Belief):
    """Learns a value when it arrives and knows nothing of it until then."""

    def __init__(self, model: Model, num_trials: int):
        both = posterior(
            model.gram,
            np.asarray(model.noise_variance, dtype=np.float64),
            num_trials,
            model.setting.horizon,
            model.form,
        )
        super().__init__(model, both, both)

    def play(self, point: Ints) -> None:
        """Nothing is known yet."""

    def receive(self, trial: Ints, point: Ints, delay: Ints, value: Floats) -> None:
        """Observe the values, one a trial at a time."""
        for wave in waves(trial):
            self.centre.observe(trial[wave], point[wave], value[wave] - self.prior_mean[point[wave]])


def waves(trial: Ints) -> Iterator[Ints | slice]:
    """Split ascending rows into groups in which no trial repeats."""
    if len(trial) < 2 or (trial[1:] > trial[:-1]).all():
        yield slice(None)
        return
    rank = np.arange(len(trial)) - np.searchsorted(trial, trial)
    for k in range(int(rank.max()) + 1):
        yield (rank == k).nonzero()[0]
