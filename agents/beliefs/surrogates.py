"""One Gaussian process for the reward and one for each cost of a trial, in units of its own values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints

from ..model.defaults import LEARNT_NOISE_FLOOR, NOISE_FLOOR
from ..model.hyperparameters import Hyperparameters
from ..model.model import Model
from ..model.units import PriorUnits, mean_and_deviation
from ..posteriors import PairPosterior, Posterior, SufficientStatistics, posterior
from .surface import Surface

FEWEST = 3  # values whose deviation says something about the size of a function


class Prediction(NamedTuple):
    """Mean and std of each function at some arms."""

    mean: Floats  # (1 + C, A) posterior mean, reward first
    std: Floats  # (1 + C, A) posterior deviation, without noise

    def at(self, arms: Ints) -> Prediction:
        """Return the predictions at some of the arms, (n,)."""
        return Prediction(self.mean[:, arms], self.std[:, arms])


class Group(NamedTuple):
    """Functions that share a kernel, as the rows of one posterior."""

    rows: Ints  # which functions
    posterior: Posterior

    @property
    def places(self) -> Ints:
        """Their places in the posterior."""
        return np.arange(len(self.rows))

    def cells(self, of_all: Ints | None) -> Ints | None:
        """Those of its own functions, of (1 + C, A)."""
        return None if of_all is None else of_all[self.rows]


class Surrogates:
    """Posteriors of the 1 + C functions of one trial; every play shows all of them.

    A function is modelled as centre + scale h, h ~ GP(0, k): centre and scale are the published ones, 0 and
    s_j / s of a cost, until `standardise` takes them from values. While they share k, the functions are
    the rows of one batched posterior; `remodel` gives each its own.

    Args:
        model: kernel and points.
        noise_variance: of reward and costs, in their own units, (1 + C,).
    """

    def __init__(self, model: Model, noise_variance: Floats):
        self.models, self.noise_variance = [model] * len(noise_variance), noise_variance
        self._rows = np.arange(len(noise_variance))
        prior = PriorUnits.of_setting(model.setting, model.deviation)
        self.centre = np.append(prior.mean, np.zeros(len(noise_variance) - 1))
        self.scale = self._told = prior.each / prior.deviation
        self.point = np.zeros(0, dtype=np.int64)  # (n,) what was delivered so far: the point,
        self.outcome = np.zeros((0, len(noise_variance)))  # (n, 1 + C) its noisy reward and costs
        self.pending: list[int] = []  # points
        self._floor = NOISE_FLOOR
        self._groups = self._prior()

    def play(self, point: Ints) -> None:
        """Points have just been played, (n,)."""
        self.pending.extend(point.tolist())

    def settle(self, point: Ints) -> None:
        """Plays are no longer pending, (n,)."""
        for x in point.tolist():
            self.pending.remove(x)

    def receive(self, point: Ints, outcome: Floats) -> None:
        """Learn the rewards and costs of plays, (n,) and (n, 1 + C)."""
        self.point = np.concatenate([self.point, point])
        self.outcome = np.concatenate([self.outcome, outcome])
        self._observe(point, outcome)

    def standardise(self, sample: Floats) -> None:
        """Take the mean and the deviation of a sample of outcomes, (n, 1 + C), for centre and scale."""
        if len(sample) == 0:
            return
        self.centre, deviation = mean_and_deviation(sample, FEWEST)
        prior = np.array([model.deviation for model in self.models])
        self.scale = np.where(deviation > 0, deviation / prior, self._told)
        self._condition()

    def remodel(self, found: Sequence[Hyperparameters]) -> None:
        """Go over to a kernel each, and noise in units of the scale, (1 + C), for what is known too."""
        self.models = [
            replace(model, kernel=each.kernel) for model, each in zip(self.models, found, strict=True)
        ]
        self.noise_variance = np.array([each.noise_variance for each in found]) * self.scale**2
        self._floor = LEARNT_NOISE_FLOOR
        self._condition()

    def predict(self, context: int, hallucinate: bool = False) -> Prediction:
        """Return the predictions at the arms of a context.

        Args:
            context: its index.
            hallucinate: deviations from all plays, the pending ones too, and not from the delivered alone.
        """
        cells, scale = self._cells(context), self.scale[:, None]
        spread = self._hallucinated() if hallucinate and self.pending else self._groups
        mean = np.concatenate([each.posterior.mean_at(each.cells(cells)) for each in self._groups])
        variance = np.concatenate([each.posterior.variance_at(each.cells(cells)) for each in spread])
        return Prediction(self.centre[:, None] + scale * mean, scale * np.sqrt(np.maximum(variance, 0.0)))

    def surfaces(self, hallucinate: bool = False) -> list[Surface]:
        """The belief about each function anywhere on a box, in units of its own scale, (1 + C).

        Args:
            hallucinate: see `predict`.
        """
        spread = self._hallucinated() if hallucinate and self.pending else self._groups
        found = []
        for mean, deviation in zip(self._groups, spread, strict=True):
            assert isinstance(mean.posterior, PairPosterior)
            assert isinstance(deviation.posterior, PairPosterior)
            for place, k in enumerate(mean.rows.tolist()):
                factors = mean.posterior.factor(place), deviation.posterior.factor(place)
                found.append(Surface(self.models[k].kernel, *factors, 0.0))
        return found

    def played(self, context: int) -> Bools:
        """Which arms of a context have delivered, (A,)."""
        first = self._groups[0]
        return first.posterior.count_at(first.cells(self._cells(context)))[0] > 0

    def _condition(self) -> None:
        self._groups = self._prior()
        self._observe(self.point, self.outcome)

    def _observe(self, point: Ints, outcome: Floats) -> None:
        value = (outcome - self.centre) / self.scale
        for x, row in zip(point, value, strict=True):
            for each in self._groups:
                each.posterior.observe(each.places, np.full(len(each.rows), x), row[each.rows])

    def _hallucinated(self) -> list[Group]:
        """Posteriors that have seen all plays, whatever their values."""
        known, pending = self._groups[0].posterior.statistics(0), np.array(self.pending, dtype=np.int64)
        point, plays = np.append(known.point, pending), np.append(known.plays, np.ones(len(pending)))
        spread, statistics = self._prior(), SufficientStatistics.merge(point, plays, np.zeros(len(point)))
        for each in spread:
            for place in each.places.tolist():
                each.posterior.condition_on(place, statistics)
        return spread

    def _prior(self) -> list[Group]:
        shared = all(model is self.models[0] for model in self.models)
        rows = [self._rows] if shared else list(self._rows[:, None])
        return [Group(each, self._prior_of(each)) for each in rows]

    def _prior_of(self, rows: Ints) -> Posterior:
        model = self.models[int(rows[0])]
        least = self._floor * model.deviation**2
        noise = np.maximum(self.noise_variance[rows] / self.scale[rows] ** 2, least)
        setting = model.setting
        contexts = setting.decisions.num_contexts
        return posterior(model.gram, noise, len(noise), setting.horizon, model.form, contexts)

    def _cells(self, context: int) -> Ints | None:
        decisions = self.models[0].setting.decisions
        if decisions.num_contexts == 1:
            return None
        arms = decisions.point_index(np.int64(context), np.arange(decisions.num_arms))  # type: ignore[arg-type]
        return np.broadcast_to(arms, (len(self._rows), len(arms)))


class FirstOutcomes:
    """Standardises surrogates by the first plays, which are uniform, however late they deliver.

    Args:
        count: how many plays.
    """

    def __init__(self, count: int):
        self.count = count
        self._sample: list[Floats] = []

    def receive(self, surrogates: Surrogates, rounds: Ints, outcome: Floats) -> None:
        """Outcomes of some rounds came, (n,) and (n, 1 + C)."""
        new = outcome[rounds < self.count]
        if len(new):
            self._sample.extend(new)
            surrogates.standardise(np.array(self._sample))
