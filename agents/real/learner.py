"""What is learnt of one quantity: how its values are written, its hyperparameters, and chains of others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property, partial

import numpy as np

from bandit_envs.basics.types import Floats, Ints
from bandit_envs.problem.truth import descended

from ..agent.assumptions import Fits
from .posterior import SurrogatePosterior
from .priors import KNOWN, STATED, noise_around
from .surrogate import PointValues, Surrogate
from .values import Values

STEPS = 25  # of L-BFGS
REACH = 6.0  # prior stds within which hyperparameters stay
NUM_CHAINS = 3
LIKELIEST = 0.5  # weight of the likeliest hyperparameters beside chains, see `Learner`
LEAPFROGS = 6
STRIDE = 0.15  # prior stds


def likeliest(tasks: Sequence[tuple[Surrogate, PointValues]], starts: list[Floats]) -> Floats:
    """Return the hyperparameters of the least loss that L-BFGS reaches from some starts, (p,).

    Of several tasks losses are added, the share of the one prior once.
    """
    prior, again = tasks[0][0].prior, len(tasks) - 1
    bounds = np.column_stack([np.full(len(prior.centre), -REACH), np.full(len(prior.centre), REACH)])

    def loss(gap: Floats) -> tuple[float, Floats]:
        found = [surrogate.loss(prior.centre + prior.spread * gap, seen) for surrogate, seen in tasks]
        value, slopes = (math.fsum(one for one, _ in found), np.sum([one for _, one in found], axis=0))
        return value - 0.5 * again * float(gap @ gap), slopes * prior.spread - again * gap

    gaps = [np.clip((start - prior.centre) / prior.spread, -REACH, REACH) for start in starts]
    gaps = [gap for i, gap in enumerate(gaps) if not any(np.array_equal(gap, other) for other in gaps[:i])]
    found = [descended(loss, gap, bounds, steps=STEPS) for gap in gaps]
    gap, height = min(found, key=lambda each: each[1])
    return prior.centre + prior.spread * gap if np.isfinite(height) else prior.centre.copy()


class Chains:
    """Hamiltonian Monte Carlo over the hyperparameters, one transition whenever it is moved (Neal 2011)."""

    def __init__(self, surrogate: Surrogate, rng: np.random.Generator, number: int = NUM_CHAINS):
        self._surrogate, self._rng = surrogate, rng
        self.states = [surrogate.prior.centre.copy() for _ in range(number)]

    def move(self, seen: PointValues) -> None:
        """Move every chain towards the posterior of these values."""
        self.states = [self._moved(state, partial(self._loss, seen)) for state in self.states]

    def _loss(self, seen: PointValues, gap: Floats) -> tuple[float, Floats]:
        prior = self._surrogate.prior
        value, slopes = self._surrogate.loss(prior.centre + prior.spread * gap, seen)
        return value, slopes * prior.spread

    def _moved(self, state: Floats, loss: partial) -> Floats:
        prior = self._surrogate.prior
        start = (state - prior.centre) / prior.spread
        momentum = self._rng.standard_normal(len(start))
        stride, coin = STRIDE * self._rng.uniform(0.7, 1.3), self._rng.random()
        value, slopes = loss(start)
        gap, energy = start, value + 0.5 * momentum @ momentum
        for _ in range(LEAPFROGS):
            momentum = momentum - 0.5 * stride * slopes
            gap = gap + stride * momentum
            if not np.abs(gap).max() < REACH:
                return state
            value, slopes = loss(gap)
            momentum = momentum - 0.5 * stride * slopes
        rise = value + 0.5 * momentum @ momentum - energy
        kept = np.isfinite(rise) and coin < np.exp(min(-rise, 0.0))
        return prior.centre + prior.spread * (gap if kept else start)


FITTED, NOTED = 300, 200  # latest points that fits, and noted ones, learn from: a fit of n takes O(n^3)
FEWEST = 3  # values that a fit needs
EVERY = ((40, 3), (100, 6), (FITTED, 12), (10**9, 60))  # up to so many values, a fit every so many
REFUTED = 3.0  # nats
QUIETER = (1.0, 0.1)  # factors of the noise under which a transform is judged


class Learner:
    """Learns from values less their prior mean; its posterior is of the transformed ones.

    What several hyperparameters say is averaged. Of H chains, theta_0 being the likeliest ones, it is

        1/2 f(theta_0) + 1/(2 H) sum_h f(theta_h):

    the likeliest ones alone soon stop at a local maximum, and few chains that move once a fit are seldom
    where the loss is least, so that they alone explore too much (docs/did-not-help.md has figures).

    Args:
        chains: of hyperparameters; None for the likeliest ones without others.
        refuted: nats by which learnt hyperparameters are likelier than published ones, their prior included,
            beyond which those are dropped.
    """

    fitted = FITTED

    def __init__(
        self, surrogate: Surrogate, values: Values, chains: Chains | None = None, refuted: float = REFUTED
    ):
        self.surrogate, self.values = surrogate, values
        self._chains, self._refuted = chains, refuted
        self.states = [surrogate.prior.centre.copy()]
        self._weights = np.ones(1)  # of the states
        self.fits, self._next = 0, FEWEST
        self._latest: PointValues | None = None  # as given

    def learn(self, seen: PointValues, count: int) -> None:
        """Take the values so far, and learn hyperparameters where that is due after `count` of them."""
        due = count >= self._next
        if not due and self._latest is not None and all(map(np.array_equal, seen, self._latest)):
            return
        self._latest = seen
        heights = [self.surrogate.standardised(self.states[0], seen, each) for each in QUIETER] if due else []
        self.values.learn(seen, heights)
        self._seen = self.values.transformed(seen)
        self.__dict__.pop("posteriors", None)
        if due:
            self._fit(count)

    def restart(self, count: int) -> None:
        """Keep hyperparameters where only `count` values count from now on."""
        self._next = min(self._next, count + FEWEST)

    def _fit(self, count: int) -> None:
        self.fits += 1
        self._next = count + next(every for most, every in EVERY if count < most)
        self.states = self._likeliest()
        self._weights = np.full(len(self.states), 1.0 / len(self.states))
        if self._chains is not None:
            self._chains.move(self._seen.latest(self.fitted))
            moved = self._chains.states
            shares = np.full(len(moved), (1.0 - LIKELIEST) / len(moved))
            self.states = [*self.states, *moved]
            self._weights = np.concatenate([LIKELIEST * self._weights, shares])

    def _likeliest(self) -> list[Floats]:
        """Return the likeliest hyperparameters, and the published ones as long as they are not refuted."""
        centre, seen = self.surrogate.prior.centre, self._seen.latest(self.fitted)
        found = likeliest([(self.surrogate, seen)], [self.states[0], centre])
        if self.values.trusted:
            rise = self.surrogate.loss(centre, seen)[0] - self.surrogate.loss(found, seen)[0]
            self.values.trusted = rise < self._refuted
        return [found, centre.copy()] if self.values.trusted else [found]

    @cached_property
    def posteriors(self) -> list[SurrogatePosterior]:
        """Return the posterior under each of the hyperparameters."""
        return [SurrogatePosterior(self.surrogate, theta, self._seen) for theta in self.states]

    def averaged(self, each: list[Floats]) -> Floats:
        """Return the mean over the hyperparameters of what each of them says, (n,) each."""
        return self._weights @ np.array(each)

    def moments(self, points: Ints) -> tuple[Floats, Floats]:
        """Return mean and std of the values at points, in their own unit, (n,) each."""
        found = [each.at(points) for each in self.posteriors]
        each = [self.values.moments(one.mean, one.known) for one in found]
        mean = self.averaged([one for one, _ in each])
        square = self.averaged([var + one**2 for one, var in each]) - mean**2
        values = self.values
        return values.zero + values.size * mean, values.size * np.sqrt(np.maximum(square, 0.0))


class NotedLearner(Learner):
    """A learner whose fits are noted, so that a replay of the history need not repeat them."""

    fitted = NOTED

    def __init__(self, surrogate: Surrogate, values: Values, found: Fits, noise_std: float | None):
        super().__init__(surrogate, values)
        self._found, self._noise_std, self._noise_spread = found, noise_std, KNOWN

    def take_stated(self, noise_std: float) -> None:
        """Take the stated noise std of a value of weight 1, of which the noise is a factor that is learnt."""
        self._noise_std, self._noise_spread = noise_std, STATED

    def learn(self, seen: PointValues, count: int) -> None:
        """Take the values so far; a known noise in their unit."""
        if self._noise_std:
            self.values.learn(seen, [])
            share = self._noise_std / self.values.size
            known = self.surrogate.prior, self.surrogate.parameters
            prior = noise_around(*known, share**2, self._noise_spread)
            self.surrogate = replace(self.surrogate, prior=prior)
            if not self.fits:
                self.states = [prior.centre.copy()]
        super().learn(seen, count)

    def _likeliest(self) -> list[Floats]:
        size = len(self.surrogate.prior.centre)
        found = self._found.numbers(lambda: super(NotedLearner, self)._likeliest()[0].tolist(), size)
        return [np.array(found)]

    @property
    def posterior(self) -> SurrogatePosterior:
        """Return the posterior; under the prior's centre where that of learnt ones has no factor."""
        try:
            (found,) = self.posteriors
        except ArithmeticError:
            self.states = [self.surrogate.prior.centre.copy()]
            (found,) = self.posteriors
        found.surrogate = self.surrogate  # which has points that were played since
        return found
