"""The points at which beliefs and objectives are asked: all arms of a context, or any points of a box."""

import abc
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints
from bandit_envs.problem.decisions import Decisions

from ..posteriors.base import columns_at
from .base import Belief, Ridge
from .ridges import ObservationWeights, observation_weights_at
from .surface import ONLY, Surface, keeping_plays


class Joint(NamedTuple):
    """Joint posterior at n points in each of B trials, given the plays that the mean counts."""

    mean: Floats  # (B, n) without made-up values, where points are arms
    std: Floats  # (B, n)
    covariance: Callable[
        [int, Ints, Ints], Floats
    ]  # of a trial's points by their indices, (a,), (b,) -> (a, b)


class Points(abc.ABC):
    """n points in each of B trials; what is asked of a belief here is written once for sets and boxes."""

    shape: tuple[int, int]  # (B, n)

    @abc.abstractmethod
    def band(self, belief: Belief) -> tuple[Floats, Floats]:
        """Return mean and std of a belief, (B, n) each."""

    @abc.abstractmethod
    def known(self, belief: Belief) -> tuple[Floats, Floats]:
        """Return mean and std from delivered values alone, without made-up ones, (B, n) each."""

    @abc.abstractmethod
    def joint(self, belief: Belief) -> Joint:
        """Return the joint posterior; arms must be those of the only context."""

    @abc.abstractmethod
    def ridges(self, belief: Belief) -> list[Ridge]:
        """Return the posterior under each regularisation, (B, n) each."""

    @abc.abstractmethod
    def observation_weights(self, belief: Belief) -> list[ObservationWeights]:
        """Return the weights of each trial's observations in the mean, (B,)."""

    @abc.abstractmethod
    def pending(self, belief: Belief) -> Bools:
        """Return where plays are pending that the std counts, (B, n)."""

    @abc.abstractmethod
    def played(self, belief: Belief) -> Bools:
        """Return where plays count for incumbents, (B, n)."""

    @abc.abstractmethod
    def prior_mean(self, belief: Belief) -> Floats:
        """Return the largest prior mean, (B,)."""

    @abc.abstractmethod
    def read(self, known: Any) -> Floats:
        """Return known values, (B, n): from a table, (N,) or (B, N), or on a box from a function of pairs."""

    @abc.abstractmethod
    def largest(self, belief: Belief, values: Floats) -> Floats:
        """Return the largest value in this context, of each numbered point, (B, N) -> (B,); at least -inf."""


class Arms(Points):
    """All A arms in the context of each trial, (B,), of a finite set."""

    def __init__(self, context: Ints, decisions: Decisions):
        self.context, self._decisions = context, decisions
        self.shape = len(context), decisions.num_arms

    @property
    def cells(self) -> Ints:
        """Numbers of the points, (B, A)."""
        return self._decisions.point_index(self.context[:, None], np.arange(self._decisions.num_arms))

    def band(self, belief: Belief) -> tuple[Floats, Floats]:
        return belief.mean(self.context), belief.std(self.context)

    def known(self, belief: Belief) -> tuple[Floats, Floats]:
        known, cells = belief.known(), belief.cells(self.context)
        mean, variance = known.posterior.mean_at(cells), known.posterior.variance_at(cells)
        if np.any(known.prior_mean):
            prior = np.broadcast_to(known.prior_mean, (len(self.context), known.posterior.gram.size))
            mean = mean + columns_at(prior, cells)
        return mean, np.sqrt(np.maximum(variance, 0.0))

    def joint(self, belief: Belief) -> Joint:
        std = np.sqrt(np.maximum(belief.mean_posterior.variance_at(None), 0.0))
        return Joint(self.known(belief)[0], std, belief.mean_posterior.covariance)

    def ridges(self, belief: Belief) -> list[Ridge]:
        cells, bands = belief.cells(self.context), [self.band(belief)]
        prior = 0.0 if belief.centred else belief.prior_mean_at(self.context)
        for other in belief.others:
            std = np.sqrt(np.maximum(other.variance_at(cells), 0.0))
            bands.append((other.mean_at(cells) + prior, std))
        return [Ridge(fit, *band) for fit, band in zip(belief.fits, bands, strict=True)]

    def observation_weights(self, belief: Belief) -> list[ObservationWeights]:
        found, gram = [], belief.mean_posterior.gram
        for i, cells in enumerate(self.cells):
            seen = belief.mean_posterior.statistics(i)
            across, same = gram.between(seen.point, cells), seen.point[:, None] == cells
            found.append(observation_weights_at(belief, i, seen, across, same))
        return found

    def pending(self, belief: Belief) -> Bools:
        cells = belief.cells(self.context)
        return belief.std_posterior.count_at(cells) > belief.mean_posterior.count_at(cells)

    def played(self, belief: Belief) -> Bools:
        return belief.played_at(belief.cells(self.context))

    def prior_mean(self, belief: Belief) -> Floats:
        return belief.prior_mean_at(self.context).max(axis=1)

    def read(self, known: Any) -> Floats:
        table = np.broadcast_to(known, (len(self.context), len(self._decisions.points)))
        return np.take_along_axis(table, self.cells, axis=1)

    def largest(self, belief: Belief, values: Floats) -> Floats:
        return np.take_along_axis(values, self.cells, axis=1).max(axis=1)


class Pairs(Points):
    """Any points of a box in the context of the only trial, as features of context and arm, (n, dz + d)."""

    def __init__(self, context: Floats, arms: Floats):
        self.context, self.arms, self.features = context, arms, with_context(context, arms)
        self.shape = 1, len(arms)

    def band(self, belief: Belief) -> tuple[Floats, Floats]:
        return self._predicted(Surface.of(belief))

    def known(self, belief: Belief) -> tuple[Floats, Floats]:
        return self._predicted(Surface.of(belief, known=True))

    def joint(self, belief: Belief) -> Joint:
        centre, mean = keeping_plays(belief.mean_posterior), float(np.ravel(belief.given_mean)[0])
        plays = centre.factor(ONLY)
        surface = Surface(centre.gram.kernel, plays, plays, mean)

        def covariance(trial: int, point: Ints, other: Ints) -> Floats:
            first, second = self.features[point], self.features[other]
            return surface.kernel(first, second) - surface.explain(first).T @ surface.explain(second)

        return Joint(*self._predicted(surface), covariance)

    def ridges(self, belief: Belief) -> list[Ridge]:
        first = Surface.of(belief)
        factors = [keeping_plays(other).factor(ONLY) for other in belief.others]
        surfaces = [first, *(Surface(first.kernel, each, each, first.prior_mean) for each in factors)]
        return [Ridge(fit, *self._predicted(each)) for fit, each in zip(belief.fits, surfaces, strict=True)]

    def observation_weights(self, belief: Belief) -> list[ObservationWeights]:
        seen, gram = belief.mean_posterior.statistics(ONLY), belief.mean_posterior.gram
        played = gram.points[seen.point]
        across = np.asarray(gram.kernel(played, self.features), dtype=np.float64)
        return [observation_weights_at(belief, ONLY, seen, across, _same(played, self.features))]

    def pending(self, belief: Belief) -> Bools:
        plays = np.zeros(belief.std_posterior.gram.size)
        for sign, posterior in ((1.0, belief.std_posterior), (-1.0, belief.mean_posterior)):
            seen = posterior.statistics(ONLY)  # `count_at` would keep rows for every set of visited points
            plays[seen.point] += sign * seen.plays
        pending = _same(belief.std_posterior.gram.points[plays > 0.0], self.features)
        return np.logical_or.reduce(pending, axis=0)[None]

    def played(self, belief: Belief) -> Bools:
        played = belief.mean_posterior.gram.points[belief.played_at(None)[ONLY]]
        return np.logical_or.reduce(_same(played, self.features), axis=0)[None]

    def prior_mean(self, belief: Belief) -> Floats:
        return np.ravel(belief.given_mean)[:1]

    def read(self, known: Any) -> Floats:
        return np.asarray(known(self.features))[None]

    def largest(self, belief: Belief, values: Floats) -> Floats:
        points, width = belief.mean_posterior.gram.points[: values.shape[1]], len(self.context)
        here = (points[:, :width] == self.context).all(axis=1)
        return values[:, : len(points)].max(axis=1, initial=-np.inf, where=here)

    def _predicted(self, surface: Surface) -> tuple[Floats, Floats]:
        mean, std = surface.predict(self.features)
        return mean[None], std[None]


class PlayedPairs(Pairs):
    """The arms that the only trial has played so far in any context, in the present one."""

    def played(self, belief: Belief) -> Bools:
        return np.ones(self.shape, dtype=bool)


def with_context(context: Floats, arms: Floats) -> Floats:
    """Return features of arms in a context, (dz,) and (n, d) -> (n, dz + d); without one the arms alone."""
    if not len(context):
        return arms
    return np.hstack([np.broadcast_to(context, (len(arms), len(context))), arms])


def _same(first: Floats, second: Floats) -> Bools:
    """Return which points are equal, (n, D) and (m, D) -> (n, m)."""
    return np.asarray((first[:, None] == second).all(axis=2))
