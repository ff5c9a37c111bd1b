"""What expected improvement improves on, on a box."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from bandit_envs.decisions import Decisions
from bandit_envs.types import Floats, Ints

from ..incumbents import BestValue, MaxMean, NoIncumbent
from ..visited import Visited


class BoxIncumbent(Protocol):
    """The value to improve on, of one trial."""

    def on_box(self, visited: Visited, context: Floats, means: Floats, prior_mean: float) -> float:
        """Return the value.

        Args:
            visited: the plays.
            context: features of the context, (dz,).
            means: posterior means of the best arms played so far, in this context, (n,).
            prior_mean: what is to be improved on before anything is known.
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

    def __init__(self, num_trials: int, decisions: Decisions):
        pass

    def on_box(self, visited: Visited, context: Floats, means: Floats, prior_mean: float) -> float:
        """Zero."""
        return 0.0

    def receive(self, trial: Ints, point: Ints, value: Floats) -> None:
        """Ignore them."""

    def forget(self, trial: Ints) -> None:
        """Nothing is kept."""


class LargestMean(NothingToImprove):
    """The largest posterior mean, in this context, over the arms played so far in any."""

    def on_box(self, visited: Visited, context: Floats, means: Floats, prior_mean: float) -> float:
        """The largest mean; the prior mean before any value."""
        return float(means.max(initial=-np.inf)) if len(means) else prior_mean


class BestSeen(NothingToImprove):
    """The best noisy value observed in this very context; the prior mean before any."""

    def __init__(self, num_trials: int, decisions: Decisions):
        self._best: dict[int, float] = {}  # of each point

    def on_box(self, visited: Visited, context: Floats, means: Floats, prior_mean: float) -> float:
        """The best value."""
        here = (visited.features[:, : len(context)] == context).all(axis=1)
        return max((y for x, y in self._best.items() if here[x]), default=prior_mean)

    def receive(self, trial: Ints, point: Ints, value: Floats) -> None:
        """Keep the best value of each point."""
        for x, y in zip(point.tolist(), value.tolist(), strict=True):
            self._best[x] = max(y, self._best.get(x, -np.inf))

    def forget(self, trial: Ints) -> None:
        """No value is the best."""
        self._best.clear()


ON_BOX: dict[Any, Any] = {NoIncumbent: NothingToImprove, MaxMean: LargestMean, BestValue: BestSeen}
