"""Hyperparameters of a surrogate: the likeliest ones, and chains of others nearly as likely."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np

from bandit_envs.basics.types import Floats
from bandit_envs.problem.truth import descended

from .surrogate import PointValues, Surrogate

STEPS = 25  # of L-BFGS
REACH = 6.0  # prior stds within which hyperparameters stay
NUM_CHAINS = 3
LEAPFROGS = 6
STRIDE = 0.15  # prior stds


def likeliest(surrogate: Surrogate, seen: PointValues, starts: list[Floats]) -> Floats:
    """Return the hyperparameters of the least loss that L-BFGS reaches from some starts, (p,)."""
    return likeliest_of_all([(surrogate, seen)], starts)


def likeliest_of_all(tasks: Sequence[tuple[Surrogate, PointValues]], starts: list[Floats]) -> Floats:
    """Return those of several tasks together, whose losses are added, the share of the one prior once.

    Args:
        tasks: surrogates with one prior, and the values of each.
        starts: (p,) each.
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
