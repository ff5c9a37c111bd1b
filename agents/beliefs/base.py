"""The belief about one unknown function, and the posteriors of its model."""

import abc
import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints

from ..model.model import Model
from ..model.rounds import Clock, Delivery, Rows
from ..model.units import profile_weights
from ..options import PerTrial
from ..posteriors import Posterior, posterior
from ..posteriors.base import SufficientStatistics

ZERO, NO_BIAS = np.zeros(()), np.zeros(1)  # arrays: a number would be converted in every round


def make_posterior(model: Model, num_trials: int, noise_variance: Floats | None = None) -> Posterior:
    """Return the prior of a model as a posterior without plays; `noise_variance` overrides the model's."""
    given = model.noise_variance if noise_variance is None else noise_variance
    noise = np.asarray(given, dtype=np.float64)
    horizon, contexts = model.setting.horizon, model.setting.decisions.num_contexts
    return posterior(model.gram, noise, num_trials, horizon, model.form, contexts)


def successor(old: Posterior, model: Model, rise: Floats | None = None) -> Posterior:
    """Return the posterior of another model given the same observations, less the mean's rise, (B, N)."""
    new = make_posterior(model, len(old.noise))
    for i in range(len(old.noise)):
        seen = old.statistics(i)
        if rise is not None:
            seen = seen._replace(total=seen.total - seen.plays * rise[i, seen.point])
        new.condition_on(i, seen)
    return new


class Fit(NamedTuple):
    """Fit of a trial's plays y under a regularisation a, (B,) each."""

    noise: Floats  # a
    misfit: Floats  # q_a - q_lambda, q_a = a y' (K + a I)^-1 y


class Ridge(NamedTuple):
    """Posterior of the plays under one regularisation."""

    fit: Fit
    mean: Floats  # (B, A) posterior mean under noise variance a
    std: Floats  # (B, A)


class Shift(NamedTuple):
    """Points P of a trial and c: a change of its mean by S[:, P] c, S its delivered posterior covariance."""

    point: Ints  # (p,), which may repeat
    weight: Floats  # (p,)


class Known(NamedTuple):
    """Posterior of f - m, and m, without values that were made up for pending plays."""

    posterior: Posterior
    prior_mean: Floats | float  # on a box a number or (B, 1)


class Belief(abc.ABC):
    """Mean, std and samples of one function at the arms of each trial's context.

    The mean is of `mean_posterior`, the std of `std_posterior`; both are posteriors of the function minus its
    prior mean, and may be one object. A subclass defines how playing a point and receiving its value change
    them.
    """

    bias: Floats | float = NO_BIAS  # what censored feedback adds to the width, (B,)
    window: float = math.inf  # feedback with longer delays is discarded
    others: Sequence[Posterior] = ()  # of the same plays under other regularisations than lambda
    fills_in = False  # True where `mean_posterior` counts plays without a value, as if they had one
    weighs = False  # True where plays of less noise have more weight; `receive` then takes weights
    assumes_bound = False  # True where it uses a bound that was neither given nor published
    noisy = False  # True where stds are those of an observation, its noise included

    def __init__(self, model: Model, mean_posterior: Posterior, std_posterior: Posterior):
        self.mean_posterior, self.std_posterior = mean_posterior, std_posterior
        self.decisions = model.setting.decisions
        self._one_context = self.decisions.num_contexts == 1
        num_trials = len(mean_posterior.noise)
        self.rows = np.arange(num_trials)
        self._weights = profile_weights(model.setting)
        self._assume_mean(model.prior_mean)

    @property
    def prior_mean(self) -> Floats:
        """Prior mean at all points, (B, N)."""
        return np.broadcast_to(self.given_mean, (len(self.rows), self.mean_posterior.gram.size))

    def play(self, point: Ints) -> None:  # noqa: B027 (a no-op where pending plays are ignored)
        """Record that every trial has just played a point, (B,)."""

    @abc.abstractmethod
    def receive(self, delivery: Delivery) -> None:
        """Condition on the values of counted plays."""

    def drop(self, trial: Ints, point: Ints, ago: Ints) -> None:  # noqa: B027 (likewise)
        """Remove pending plays of `ago` rounds ago that will never yield a value, (n,) each."""

    def weights(self, point: Ints, own: Floats | None = None) -> Floats | None:
        """Return how many plays of noise lambda each play counts as, (n,), its own if given; None for 1."""
        return own if own is not None or self._weights is None else self._weights[point]

    def assumed(self, trial: Ints, point: Ints) -> Floats:
        """Return the values assumed for pending plays, minus their prior mean, (n,): the posterior mean."""
        return self.mean_posterior.mean_of(trial, point)

    def remodel(self, model: Model) -> None:
        """Change to another kernel, noise and prior mean; the observations stay."""
        shared, before = self.std_posterior is self.mean_posterior, self.prior_mean
        moved = not np.array_equal(model.prior_mean, self.given_mean)
        self._assume_mean(model.prior_mean)
        self.mean_posterior = successor(
            self.mean_posterior, model, self.prior_mean - before if moved else None
        )
        self.std_posterior = self.mean_posterior if shared else successor(self.std_posterior, model)

    def forget(self, trial: Ints) -> None:
        """Return the given trials, (n,), to the prior."""
        self.mean_posterior.reset(trial)
        if self.std_posterior is not self.mean_posterior:
            self.std_posterior.reset(trial)

    def revalue(self, trial: Ints, delivered: Callable[[int, Ints], SufficientStatistics]) -> None:
        """Replace the delivered values of some trials, (n,); the plays and their weights stay.

        `delivered` maps a trial and points, (u,), to the delivered plays and the sums of their new values.
        """
        self._give_values(self.mean_posterior, trial, delivered)

    def _give_values(
        self, target: Posterior, trial: Ints, delivered: Callable[[int, Ints], SufficientStatistics]
    ) -> None:
        for i in trial.tolist():
            seen = target.statistics(i)
            values = delivered(i, seen.point)
            total = values.total - values.plays * self.prior_mean[i, seen.point]
            target.condition_on(i, seen._replace(total=total))

    def condition(self, now: int, rows: Rows, clock: Clock) -> None:
        """Condition, before round `now`, on plays of earlier rounds, pending or delivered.

        The belief is fresh, or has forgotten all plays of their trials. The rows' rewards are values.
        """
        self.receive(rows.delivery(clock))

    def mean(self, context: Ints) -> Floats:
        """Posterior mean at the arms of each trial's context, (B,) -> (B, A)."""
        mean = self.mean_posterior.mean_at(None if self._one_context else self.cells(context))
        return mean if self.centred else mean + self.prior_mean_at(context)

    def known(self) -> Known:
        """Return the posterior given the delivered values alone, which queries of an agent answer from."""
        return Known(self.mean_posterior, self.given_mean)

    def shift(self, trial: int) -> Shift | None:
        """Return what made-up values of pending plays move a trial's mean by; None where there are none."""
        return None

    def played_at(self, cells: Ints | None) -> Bools:
        """Return the mask of points whose plays count for incumbents, (B, A)."""
        return self.mean_posterior.count_at(cells) > 0

    def std(self, context: Ints) -> Floats:
        """Posterior std of f, without noise unless the belief is `noisy`, (B,) -> (B, A)."""
        cells = None if self._one_context else self.cells(context)
        variance = self.std_posterior.variance_at(cells)
        # The place of the least number is found in a third of the time that clipping all takes.
        if not (variance.size and variance.item(variance.argmin()) >= 0.0):
            variance = np.maximum(variance, ZERO)
        if self.noisy:
            variance = variance + self.noise_of(self.rows)[:, None]
        return np.sqrt(variance)

    def predicted(self, trial: Ints, point: Ints) -> tuple[Floats, Floats]:
        """Return mean and std of values at single points, noise included, (n,) -> (n,) each."""
        mean, spread = self.mean_posterior.mean_of(trial, point), self.std_posterior
        variance = np.maximum(spread.variance_of(trial, point), 0.0) + spread.noise[trial]
        return mean + self.prior_mean[trial, point], np.sqrt(variance)

    def noise_of(self, trial: Ints) -> Floats:
        """Return the share of noise in the variances, (n,) -> (n,): 0, or lambda if `noisy`."""
        return self.std_posterior.noise[trial] if self.noisy else np.zeros(len(trial))

    def argmax_ucb(self, width: float, tie: float) -> Ints | None:
        """Return the arms with mean + w std within `tie` of the largest, if this is faster than all scores.

        It is for one trial on a set in one context, (n,); None where all arms must be scored.
        """
        return None

    def centred_sample(self, context: Ints, rngs: Sequence[np.random.Generator]) -> Floats:
        """Draw one joint posterior sample of f - mean a trial, (B, A)."""
        return self.std_posterior.centred_sample_at(self.cells(context), rngs)

    def sample(
        self, context: Ints, rngs: Sequence[np.random.Generator], factor: Floats | float = 1.0
    ) -> Floats:
        """Draw mean + w (f - mean) of one joint sample of f a trial, w a number or (B, 1); (B, A)."""
        if self.mean_posterior is not self.std_posterior:
            return self.mean(context) + factor * self.centred_sample(context, rngs)
        cells = None if self._one_context else self.cells(context)
        sample = self.std_posterior.sample_at(cells, rngs, factor)
        return sample if self.centred else sample + self.prior_mean_at(context)

    def weight_norm(self, context: Ints) -> Floats:
        """|a_x| at the arms of each trial's context, where the mean is m(x) + a_x'(y - m), (B,) -> (B, A)."""
        return self.mean_posterior.weight_norm_at(self.cells(context))

    def half_width(self, context: Ints, bound: PerTrial, delta: float) -> Floats:
        """Return half the width of the belief's own band at the arms, for functions of norm B, (B, A).

        Only beliefs whose bands are no multiple of the std have one.
        """
        raise NotImplementedError(f"{type(self).__name__} has no band of its own; take a width")

    @property
    def fits(self) -> list[Fit]:
        """Fit of the plays under each regularisation."""
        return [Fit(self.std_posterior.noise, np.zeros(len(self.rows)))]

    def active(self, context: Ints) -> Bools:
        """Return the mask of arms that may still be the best, (B,) -> (B, A); here all."""
        return np.ones((len(self.rows), self.decisions.num_arms), dtype=bool)

    @property
    def gain(self) -> Floats:
        """Information gain of the counted plays, (B,)."""
        return self.std_posterior.gain

    def cells(self, context: Ints) -> Ints | None:
        """Return the points of the arms in each trial's context, (B,) -> (B, A); None for all points."""
        if self._one_context:
            return None
        return self.decisions.point_index(context[:, None], np.arange(self.decisions.num_arms))

    def prior_mean_at(self, context: Ints) -> Floats:
        """Prior mean at the arms of each trial's context, (B, A)."""
        cells = self.cells(context)
        return self.prior_mean if cells is None else self.prior_mean[self.rows[:, None], cells]

    def _assume_mean(self, mean: Floats | float) -> None:
        self.given_mean, self.centred = mean, not np.any(mean)  # on a box a number or (B, 1)

    def residual(self, trial: Ints, point: Ints, value: Floats) -> Floats:
        """Return values minus the prior mean of their points, (n,), which the posteriors condition on."""
        if self.centred:
            return value
        return value - self.prior_mean[trial, point]
