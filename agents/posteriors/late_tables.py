"""Tables of mean and variance over the points, updated on access."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from bandit_envs.basics.types import Floats

Slabs = Callable[[Floats], Iterable[tuple[slice, Floats]]]


class LateTables:
    """Tables of f = R'w, which cost nothing in rounds of rules that read neither, such as Thompson sampling.

    Plays update the tables at once; after a sample they are stored until a table is read.

    Args:
        mean, variance: of the prior, (B, N) each, which then belong to the tables.
        slabs: from weights (r,), R'w slice after slice of points.
        afresh: from a trial, its variance, (N,), computed from the weights' covariance.
        rank: r, the number of plays beyond which computing the variance afresh is cheaper.
    """

    def __init__(
        self, mean: Floats, variance: Floats, slabs: Slabs, afresh: Callable[[int], Floats], rank: int
    ):
        self._mean, self._variance, self._rank = mean, variance, rank
        self._slabs, self._afresh = slabs, afresh
        self._plays: list[list[tuple[Floats, float]]] = [[] for _ in mean]  # not yet in the tables
        self._missing = list(np.zeros((len(mean), rank)))  # weights missing in the mean, (r,) each
        self._deferring = False

    @property
    def mean(self) -> Floats:
        """Posterior mean, (B, N)."""
        if self._deferring:
            self._catch_up()
        return self._mean

    @property
    def variance(self) -> Floats:
        """Posterior variance, (B, N)."""
        if self._deferring:
            self._catch_up()
        return self._variance

    def mean_at(self, trial: int, point: int, feature: Floats) -> float:
        """Return the mean at one point, whose column of R is given, (r,)."""
        shown = self._mean.item(trial, point)
        return shown + float(feature.dot(self._missing[trial])) if self._plays[trial] else shown

    def sample(self, trial: int, weight: Floats) -> Floats:
        """Return the mean plus R'w, (N,), in one product."""
        self._deferring = True
        sample = self._mean[trial].copy()
        for points, values in self._slabs(self._missing[trial] + weight):
            part = sample[points]
            part += values  # sample[points] += values would also copy the sum onto itself
        return sample

    def note(self, trial: int, weight: Floats, innovation: float) -> None:
        """Record a play that moves the mean by R'w times the innovation, and the variance by -(R'w)^2."""
        if not self._deferring:
            self._show(trial, weight, innovation)
            return
        missing, plays = self._missing[trial], self._plays[trial]
        missing += weight * innovation
        if len(plays) <= self._rank:
            plays.append((weight, innovation))

    def _catch_up(self) -> None:
        for i, (plays, missing) in enumerate(zip(self._plays, self._missing, strict=True)):
            if len(plays) > self._rank:
                self._mean[i] = self.sample(i, np.zeros(self._rank))
                self._variance[i] = self._afresh(i)
            else:
                for weight, innovation in plays:
                    self._show(i, weight, innovation)
            plays.clear()
            missing[:] = 0.0
        self._deferring = False

    def _show(self, trial: int, weight: Floats, innovation: float) -> None:
        # Slab by slab: data that stay in the cache take a third of the time.
        mean, variance = self._mean[trial], self._variance[trial]
        for points, root in self._slabs(weight):
            mean[points] += root * innovation
            root *= root
            variance[points] -= root
