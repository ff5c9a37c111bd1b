"""One Gaussian process for the reward and one for each cost of a trial, in units of its own values."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints

from ..model.model import Model
from ..model.noise import NOISE_FLOOR
from ..model.units import mean_and_deviation
from ..posteriors import PairPosterior, Posterior, SufficientStatistics, posterior
from .surface import Surface

FEWEST = 3  # values whose deviation says something about the size of a function


class Prediction(NamedTuple):
    """Of each function at some arms."""

    mean: Floats  # (1 + C, A) posterior mean, reward first
    std: Floats  # (1 + C, A) posterior deviation, without noise

    def at(self, arms: Ints) -> Prediction:
        """The same of some of the arms, (n,)."""
        return Prediction(self.mean[:, arms], self.std[:, arms])


class Surrogates:
    """Posteriors of the 1 + C functions of one trial; every play shows all of them.

    A function is modelled as centre + scale h, h ~ GP(0, k): the centre is the published one, 0 of a cost,
    and the scale 1 until `standardise` takes them from observed values. The functions are the rows of one
    batched posterior.

    Args:
        model: kernel and points.
        noise_variance: of reward and costs, in their own units, (1 + C,).
    """

    def __init__(self, model: Model, noise_variance: Floats):
        self.model, self.noise_variance = model, noise_variance
        self._rows = np.arange(len(noise_variance))
        self.centre, self.scale = np.zeros(len(noise_variance)), np.ones(len(noise_variance))
        self.centre[0] = np.mean(model.setting.prior_mean)
        self.point = np.zeros(0, dtype=np.int64)  # (n,) what was delivered so far: the point,
        self.outcome = np.zeros((0, len(noise_variance)))  # (n, 1 + C) its noisy reward and costs
        self.pending: list[int] = []  # points
        self._posterior = self._prior()

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
        self.scale = np.where(deviation > 0, deviation / self.model.deviation, 1.0)
        self._posterior = self._prior()
        self._observe(self.point, self.outcome)

    def predict(self, context: int, hallucinate: bool = False) -> Prediction:
        """What is believed about the arms of a context.

        Args:
            context: its index.
            hallucinate: deviations from all plays, the pending ones too, and not from the delivered alone.
        """
        cells = self._cells(context)
        spread = self._hallucinated() if hallucinate and self.pending else self._posterior
        scale = self.scale[:, None]
        mean = self.centre[:, None] + scale * self._posterior.mean_at(cells)
        return Prediction(mean, scale * np.sqrt(np.maximum(spread.variance_at(cells), 0.0)))

    def surfaces(self, hallucinate: bool = False) -> list[Surface]:
        """What is believed of each function anywhere on a box, in units of its own scale, (1 + C).

        Args:
            hallucinate: see `predict`.
        """
        centre, spread = (
            self._posterior,
            self._hallucinated() if hallucinate and self.pending else self._posterior,
        )
        assert isinstance(centre, PairPosterior)
        assert isinstance(spread, PairPosterior)
        kernel = self.model.kernel
        return [Surface(kernel, centre.factor(i), spread.factor(i), 0.0) for i in self._rows.tolist()]

    def played(self, context: int) -> Bools:
        """Which arms of a context have delivered, (A,)."""
        return self._posterior.count_at(self._cells(context))[0] > 0

    def _observe(self, point: Ints, outcome: Floats) -> None:
        value = (outcome - self.centre) / self.scale
        for x, row in zip(point, value, strict=True):
            self._posterior.observe(self._rows, np.full(len(row), x), row)

    def _hallucinated(self) -> Posterior:
        """A posterior that has seen all plays, whatever their values."""
        known, pending = self._posterior.statistics(0), np.array(self.pending, dtype=np.int64)
        point, plays = np.append(known.point, pending), np.append(known.plays, np.ones(len(pending)))
        spread, statistics = self._prior(), SufficientStatistics.merge(point, plays, np.zeros(len(point)))
        for i in self._rows.tolist():
            spread.condition_on(i, statistics)
        return spread

    def _prior(self) -> Posterior:
        model, setting = self.model, self.model.setting
        noise = np.maximum(self.noise_variance / self.scale**2, NOISE_FLOOR * model.deviation**2)
        contexts = setting.decisions.num_contexts
        return posterior(model.gram, noise, len(noise), setting.horizon, model.form, contexts)

    def _cells(self, context: int) -> Ints | None:
        decisions = self.model.setting.decisions
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
