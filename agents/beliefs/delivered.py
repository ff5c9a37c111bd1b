"""Beliefs that condition on feedback when it is delivered, at once, in sums, or by the age of its play."""

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from bandit_envs.basics.arguments import require_at_least_one, require_not_negative, require_share
from bandit_envs.basics.types import Floats, Ints
from bandit_envs.kernels.gram import Gram

from ..model.model import Model
from ..model.rounds import Clock, Delivery, Rows
from ..options import PerTrial
from ..posteriors import Posterior
from ..posteriors.base import observe, waves
from ..posteriors.fading import Discounted, Drifting, LastCounts, LastPlays, Wandering
from ..posteriors.memory import ForgettingPosterior, Memory
from .base import Belief, make_posterior

STEPS = 40_000  # operations of a factorisation in the time of one pass over a window of plays
Maker = Callable[[Gram, float], Memory]


class Delivered(Belief):
    """Belief that learns a value when it is delivered and ignores the play until then."""

    weighs = True

    def __init__(self, model: Model, num_trials: int):
        both = make_posterior(model, num_trials)
        super().__init__(model, both, both)

    def receive(self, delivery: Delivery) -> None:
        """Condition on the values, at most one a trial at a time, as plays of these weights, (n,)."""
        trial, point, value, weight = delivery.trial, delivery.point, delivery.reward, delivery.weight
        residual = value if self.centred else self.residual(trial, point, value)
        known = weight if self._weights is None else self.weights(point, weight)
        observe(self.mean_posterior, trial, point, residual, known)

    def argmax_ucb(self, width: float, tie: float) -> Ints | None:
        alike = self._one_context and np.size(self.given_mean) == 1  # the prior mean raises all scores alike
        return self.mean_posterior.argmax_ucb(width, tie) if alike else None


class Gathered(Delivered):
    """Belief equal to `Delivered` up to rounding, in which n values of a point cost one observation.

    A value costs O(1) while its point is that of the value before: a number and a sum a trial are stored
    until another point is played or the posterior is read.
    """

    def __init__(self, model: Model, num_trials: int):
        self._point = np.zeros(num_trials, dtype=np.int64)  # the point of the stored values
        self._plays = np.zeros(num_trials)  # their number, 0 where none is stored
        self._total = np.zeros(num_trials)  # their sum
        super().__init__(model, num_trials)

    @property
    def mean_posterior(self) -> Posterior:  # type: ignore[override] (an attribute of other beliefs)
        """The posterior given all delivered values."""
        self._learn((self._plays > 0.0).nonzero()[0])
        return self._posterior

    @mean_posterior.setter
    def mean_posterior(self, posterior: Posterior) -> None:
        self._posterior = posterior

    std_posterior = mean_posterior  # type: ignore[assignment]

    def receive(self, delivery: Delivery) -> None:
        """Sum up the values, at most one a trial at a time, as plays of these weights, (n,)."""
        trial, point, value, weight = delivery.trial, delivery.point, delivery.reward, delivery.weight
        residual, known = self.residual(trial, point, value), self.weights(point, weight)
        if known is None and len(trial) == 1:  # a third of the time that arrays of one entry take
            i, x = trial.item(), point.item()
            if self._plays.item(i) and self._point.item(i) != x:
                self._learn(trial)
            self._point[i] = x
            self._plays[i] += 1.0
            self._total[i] += residual.item()
            return
        plays = np.ones(len(trial)) if known is None else known
        for wave in waves(trial):
            i, x = trial[wave], point[wave]
            other = (self._point[i] != x) & (self._plays[i] > 0.0)
            self._learn(i[other])
            self._point[i] = x
            self._plays[i] += plays[wave]
            self._total[i] += plays[wave] * residual[wave]

    def _learn(self, trial: Ints) -> None:
        """Condition on the stored sums of some trials, (n,)."""
        if not len(trial):
            return
        plays, total = self._plays[trial], self._total[trial]
        self._plays[trial] = self._total[trial] = 0.0
        self._posterior.observe_sums(trial, self._point[trial], plays, total)


class EquallyWeighted(Delivered):
    """Belief that learns every value, when it is delivered, as one play of noise lambda.

    A value that may be corrupted, or heavy-tailed, must not have a larger weight than another because a small
    noise is published for it.
    """

    weighs = False

    def weights(self, point: Ints, own: Floats | None = None) -> Floats | None:
        """Return None: each play counts as one."""
        return None


class Forgetful(Belief):
    """Belief that learns a value when it is delivered, as a play of the round in which it was played."""

    def __init__(self, model: Model, memories: Sequence[Maker]):
        if model.learning is not None and model.learning.mean:
            raise ValueError("fit_mean must be False where older plays have less weight, got True")
        self._known = ForgettingPosterior(model.gram, model.noise_variance, memories)
        super().__init__(model, self._known, self._known)
        self._clock, self._now = Clock(model.setting.query_times), -1

    def play(self, point: Ints) -> None:
        """Begin a round: all observations become one round older."""
        self._now += 1
        self._known.advance()

    def receive(self, delivery: Delivery) -> None:
        trial, point, value = delivery.trial, delivery.point, delivery.reward
        age = self._clock.age(delivery.delay, self._now)
        self._known.observe_aged(trial, point, self.residual(trial, point, value), age)

    def condition(self, now: int, rows: Rows, clock: Clock) -> None:
        """Condition on the values with the present ages of their plays; time begins with the first play."""
        self._now = now - 1
        each, first = np.unique(rows.trial, return_index=True)
        self._known.elapse(each, now - rows.round[first])
        trial, point, rounds, _, value, *_ = rows.delivered
        self._known.observe_aged(trial, point, self.residual(trial, point, value), self._now - rounds)

    def remodel(self, model: Model) -> None:
        self._known = self._known.under(model.gram, model.noise_variance)
        self.mean_posterior = self.std_posterior = self._known


def sliding_window(model: Model, num_trials: int, *, window: PerTrial) -> Forgetful:
    """Return the belief on the last W plays, one W or (B,); a value delivered later is not learnt."""
    require_at_least_one("window", window, "it is the number of last plays that are remembered")
    if np.asarray(window).dtype.kind not in "iu":
        raise ValueError(f"window must be an integer, got {window!r}; it is a number of plays")
    each = np.broadcast_to(window, num_trials).tolist()
    decisions = model.setting.decisions
    points = math.inf if decisions.continuous else decisions.num_arms * decisions.num_contexts
    # Counts of N points where N^3 operations cost less than W passes over the window's plays.
    counted = [points < one and points**3 <= STEPS * one for one in each]
    forms = [LastCounts if each else LastPlays for each in counted]
    return Forgetful(model, [partial(form, window=one) for form, one in zip(forms, each, strict=True)])


def time_varying(model: Model, num_trials: int, *, eps: PerTrial) -> Forgetful:
    """Return the belief about a drifting f: kernel (1 - eps)^(|t - t'| / 2) k(x, x') (Bogunovic 2016).

    Predictions are for the next round; eps in [0, 1] is one or (B,), and 0 means no drift.
    """
    require_share("eps", eps, "the kernel is (1 - eps)^(|t - t'| / 2) k(x, x')")
    each = np.broadcast_to(eps, num_trials).tolist()
    return Forgetful(model, [partial(Drifting, eps=float(one)) for one in each])


def wandering(model: Model, num_trials: int, *, rate: PerTrial) -> Forgetful:
    """Return the belief about a Brownian f: kernel (1 + s^2 min(t, t')) k(x, x') (Brunzema 2022).

    Predictions are for the next round, on a finite set, because priors on boxes cannot grow; s^2, `rate`, is
    the variance of a step in prior variances, one or (B,), and 0 means no drift.
    """
    require_not_negative("rate", rate, "it is the variance of a round's step, in prior variances")
    each = np.broadcast_to(rate, num_trials).tolist()
    return Forgetful(model, [partial(Wandering, rate=float(one)) for one in each])


def discounted(model: Model, num_trials: int, *, discount: PerTrial) -> Forgetful:
    """Return the belief in which a play of s rounds ago has noise lambda rho^-s (Deng et al. 2022)."""
    require_share("discount", discount, "it multiplies a play's weight in every round")
    if np.any(np.asarray(discount) == 0):
        raise ValueError(f"discount must be positive, got {discount}; with 0 nothing would be learnt")
    each = np.broadcast_to(discount, num_trials).tolist()
    return Forgetful(model, [partial(Discounted, discount=float(one)) for one in each])
