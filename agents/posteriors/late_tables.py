"""Mean and variance over the points that may show plays only when somebody reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from bandit_envs.basics.types import Floats

Slabs = Callable[[Floats], Iterable[tuple[slice, Floats]]]


class LateTables:
    """Tables of f = R'w: a rule that reads neither, as Thompson sampling, costs none a round.

    Plays are shown at once; after a sample they wait until somebody reads.

    Args:
        mean, variance: of the prior, (B, N) each; they belong to the tables now.
        slabs: from weights (r,), R'w slice after slice of points.
        afresh: from a trial, its variance, (N,), by what is known of the weights.
        rank: r, plays of which it is cheaper to compute the variance afresh than to follow them.
    """

    def __init__(
        self, mean: Floats, variance: Floats, slabs: Slabs, afresh: Callable[[int], Floats], rank: int
    ):
        self._mean, self._variance, self._rank = mean, variance, rank
        self._slabs, self._afresh = slabs, afresh
        self._plays: list[list[tuple[Floats, float]]] = [[] for _ in mean]  # that are not shown
        self._lack = list(np.zeros((len(mean), rank)))  # weights of what the mean lacks, (r,) each
        self._waits = False

    @property
    def mean(self) -> Floats:
        """Posterior mean, (B, N)."""
        if self._waits:
            self._catch_up()
        return self._mean

    @property
    def variance(self) -> Floats:
        """Posterior variance, (B, N)."""
        if self._waits:
            self._catch_up()
        return self._variance

    def mean_at(self, trial: int, point: int, feature: Floats) -> float:
        """The mean at one point, whose column of R is given, (r,)."""
        shown = self._mean.item(trial, point)
        return shown + float(feature.dot(self._lack[trial])) if self._plays[trial] else shown

    def sample(self, trial: int, weight: Floats) -> Floats:
        """The mean plus R'w, (N,), at the price of one product."""
        self._waits = True
        sample = self._mean[trial].copy()
        for points, values in self._slabs(self._lack[trial] + weight):
            part = sample[points]
            part += values  # sample[points] += values would also copy the sum onto itself
        return sample

    def note(self, trial: int, weight: Floats, innovation: float) -> None:
        """A play moved the mean by R'w times the innovation, and took (R'w)^2 off the variance."""
        if not self._waits:
            self._show(trial, weight, innovation)
            return
        lack, plays = self._lack[trial], self._plays[trial]
        lack += weight * innovation
        if len(plays) <= self._rank:
            plays.append((weight, innovation))

    def _catch_up(self) -> None:
        for i, (plays, lack) in enumerate(zip(self._plays, self._lack, strict=True)):
            if len(plays) > self._rank:
                self._mean[i] = self.sample(i, np.zeros(self._rank))
                self._variance[i] = self._afresh(i)
            else:
                for weight, innovation in plays:
                    self._show(i, weight, innovation)
            plays.clear()
            lack[:] = 0.0
        self._waits = False

    def _show(self, trial: int, weight: Floats, innovation: float) -> None:
        # Slab by slab, for what does not leave the cache in between takes a third of the time.
        mean, variance = self._mean[trial], self._variance[trial]
        for points, root in self._slabs(weight):
            mean[points] += root * innovation
            root *= root
            variance[points] -= root
