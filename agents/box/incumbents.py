"""What expected improvement improves on, on a box."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

from bandit_envs.basics.types import Floats, Ints
from bandit_envs.problem.decisions import Decisions

from ..acquisition.incumbents import BestValue, MaxMean, NoIncumbent, NoisyPlays
from ..beliefs.surface import Surface
from ..kernels.visited import Visited
from .fantasies import Worlds, fantasies, normal_points
from .landscape import with_context

SAMPLED_PLAYS = 64  # those with the largest means: the others are hardly ever the best of a sample
NUM_WORLDS = 16


class BestPlays(NamedTuple):
    """Arms played so far, best first."""

    visited: Visited  # all plays
    arms: Floats  # (n, d)
    context: Floats  # features of the context, (dz,)
    means: Floats  # posterior means in this context, (n,)


class BoxIncumbent(Protocol):
    """The value to improve on, of one trial."""

    def worlds(self, surface: Surface, plays: BestPlays, rng: np.random.Generator) -> Worlds:
        """Return what is believed, in one or several worlds, and the value to improve on in each.

        Args:
            surface: what is believed.
            plays: the best arms played so far.
            rng: of samples.
        """
        ...

    def receive(self, trial: Ints, point: Ints, value: Floats) -> None:
        """Values of plays arrive, (n,) each."""
        ...

    def forget(self, trial: Ints) -> None:
        """The trial starts over."""
        ...


class NothingToImprove:
    """For rules that improve on nothing."""

    def __init__(self, num_trials: int = 1, decisions: Decisions | None = None):
        pass

    def worlds(self, surface: Surface, plays: BestPlays, rng: np.random.Generator) -> Worlds:
        """What is believed, as it is, and one value."""
        return Worlds(surface, np.array([self.value(plays, surface.prior_mean)]))

    def value(self, plays: BestPlays, prior_mean: float) -> float:
        """Zero."""
        return 0.0

    def receive(self, trial: Ints, point: Ints, value: Floats) -> None:
        """Ignore them."""

    def forget(self, trial: Ints) -> None:
        """Nothing is kept."""


class LargestMean(NothingToImprove):
    """The largest posterior mean, in this context, over the arms played so far in any."""

    def value(self, plays: BestPlays, prior_mean: float) -> float:
        """The largest mean; the prior mean before any value."""
        return float(plays.means.max()) if len(plays.means) else prior_mean


class SampledBest(LargestMean):
    """The best value of the plays without noise, in each of several samples of them: noisy EI.

    Under noise the largest mean would be the value of one play, and what is uncertain about it would count as
    improvement: EI then plays the same points again. Here a play is no improvement on itself.
    """

    def worlds(self, surface: Surface, plays: BestPlays, rng: np.random.Generator) -> Worlds:
        """Samples of the best plays' values; before any value, as without noise."""
        if not len(plays.arms):
            return super().worlds(surface, plays, rng)
        arms = np.unique(plays.arms[:SAMPLED_PLAYS], axis=0)
        white = normal_points(len(arms), NUM_WORLDS, rng)
        return fantasies(surface, with_context(plays.context, arms), white)


class BestSeen(NothingToImprove):
    """The best noisy value observed in this very context; the prior mean before any."""

    def __init__(self, num_trials: int, decisions: Decisions):
        self._best: dict[int, float] = {}  # of each point

    def value(self, plays: BestPlays, prior_mean: float) -> float:
        """The best value."""
        here = (plays.visited.features[:, : len(plays.context)] == plays.context).all(axis=1)
        return max((y for x, y in self._best.items() if here[x]), default=prior_mean)

    def receive(self, trial: Ints, point: Ints, value: Floats) -> None:
        """Keep the best value of each point."""
        for x, y in zip(point.tolist(), value.tolist(), strict=True):
            self._best[x] = max(y, self._best.get(x, -np.inf))

    def forget(self, trial: Ints) -> None:
        """No value is the best."""
        self._best.clear()


ON_BOX: dict[Any, Any] = {
    NoIncumbent: NothingToImprove,
    MaxMean: LargestMean,
    BestValue: BestSeen,
    NoisyPlays: SampledBest,
}
