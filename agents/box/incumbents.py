"""Incumbents on a box: the values that expected improvement improves on."""

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

SAMPLED_PLAYS = 64  # those of the largest means: the others are hardly ever the best of a sample
NUM_WORLDS = 16


class BestPlays(NamedTuple):
    """Arms played so far, best first."""

    visited: Visited  # all plays
    arms: Floats  # (n, d)
    context: Floats  # features of the context, (dz,)
    means: Floats  # posterior means in this context, (n,)


class BoxIncumbent(Protocol):
    """Value to improve on, of one trial."""

    def worlds(self, surface: Surface, plays: BestPlays, rng: np.random.Generator) -> Worlds:
        """Return the belief, in one or several worlds, and the value to improve on in each.

        Args:
            surface: the belief.
            plays: the best arms played so far.
            rng: generator of samples.
        """
        ...

    def receive(self, trial: Ints, point: Ints, value: Floats) -> None:
        """Record delivered values of plays, (n,) each."""
        ...

    def forget(self, trial: Ints) -> None:
        """Reset the incumbent of a trial that restarts."""
        ...


class NothingToImprove:
    """Incumbent of rules without improvement: 0."""

    def __init__(self, num_trials: int = 1, decisions: Decisions | None = None):
        pass

    def worlds(self, surface: Surface, plays: BestPlays, rng: np.random.Generator) -> Worlds:
        """Return the belief as one world, with one value."""
        return Worlds(surface, np.array([self.value(plays, surface.prior_mean)]))

    def value(self, plays: BestPlays, prior_mean: float) -> float:
        """Return zero."""
        return 0.0

    def receive(self, trial: Ints, point: Ints, value: Floats) -> None:
        """Ignore delivered values."""

    def forget(self, trial: Ints) -> None:
        """Do nothing: no state is kept."""


class LargestMean(NothingToImprove):
    """Largest posterior mean in this context over the arms played so far in any context."""

    def value(self, plays: BestPlays, prior_mean: float) -> float:
        """Return the largest mean; the prior mean before any play."""
        return float(plays.means.max()) if len(plays.means) else prior_mean


class SampledBest(LargestMean):
    """Noisy EI: the best noise-free value of the plays, in each of several samples of them.

    Under noise the largest mean would be the value of one play, whose uncertainty would count as improvement:
    EI then plays the same points again. Here a play is no improvement on itself.
    """

    def worlds(self, surface: Surface, plays: BestPlays, rng: np.random.Generator) -> Worlds:
        """Return worlds with samples of the best plays' values; before any play, one world."""
        if not len(plays.arms):
            return super().worlds(surface, plays, rng)
        arms = np.unique(plays.arms[:SAMPLED_PLAYS], axis=0)
        white = normal_points(len(arms), NUM_WORLDS, rng)
        return fantasies(surface, with_context(plays.context, arms), white)


class BestSeen(NothingToImprove):
    """Best noisy value observed in exactly this context; the prior mean before any."""

    def __init__(self, num_trials: int, decisions: Decisions):
        self._best: dict[int, float] = {}  # of each point

    def value(self, plays: BestPlays, prior_mean: float) -> float:
        """Return the best value."""
        here = (plays.visited.features[:, : len(plays.context)] == plays.context).all(axis=1)
        return max((y for x, y in self._best.items() if here[x]), default=prior_mean)

    def receive(self, trial: Ints, point: Ints, value: Floats) -> None:
        """Store the best value of each point."""
        for x, y in zip(point.tolist(), value.tolist(), strict=True):
            self._best[x] = max(y, self._best.get(x, -np.inf))

    def forget(self, trial: Ints) -> None:
        """Clear the values."""
        self._best.clear()


ON_BOX: dict[Any, Any] = {
    NoIncumbent: NothingToImprove,
    MaxMean: LargestMean,
    BestValue: BestSeen,
    NoisyPlays: SampledBest,
}
