"""What expected improvement improves on; the choice decides how EI and PI rank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from bandit_envs.basics.arguments import require
from bandit_envs.basics.types import Floats, Ints
from bandit_envs.problem.decisions import Decisions
from bandit_envs.problem.setting import Setting

from ..beliefs.base import Belief


class Incumbent(Protocol):
    """The value to improve on, one a trial."""

    def __call__(self, belief: Belief, context: Ints, mean: Floats) -> Floats:
        """Given the belief, the contexts (B,) and the mean at the candidates (B, A), return (B,).

        The mean of arms that may not be played in this round is minus infinity.
        """
        ...

    def receive(self, trial: Ints, point: Ints, value: Floats) -> None:
        """Values of plays arrive, (n,) each."""
        ...

    def forget(self, trial: Ints) -> None:
        """Trials start over, (n,)."""
        ...


class NoIncumbent:
    """For rules that improve on nothing."""

    def __init__(self, num_trials: int, decisions: Decisions):
        self._zero = np.zeros(num_trials)

    def __call__(self, belief: Belief, context: Ints, mean: Floats) -> Floats:
        """Zeros, (B,)."""
        return self._zero

    def receive(self, trial: Ints, point: Ints, value: Floats) -> None:
        """Ignore them."""

    def forget(self, trial: Ints) -> None:
        """Nothing is kept."""


class MaxMean(NoIncumbent):
    """The largest posterior mean over the points played in this context; without any, the prior mean.

    Where arms may be missing, over those that are there.
    """

    def __call__(self, belief: Belief, context: Ints, mean: Floats) -> Floats:
        """Return the largest mean, (B,)."""
        played = belief.centre.count_at(belief.cells(context)) > 0
        largest = np.where(played, mean, -np.inf).max(axis=1)
        return np.where(largest > -np.inf, largest, belief.prior_mean_at(context).max(axis=1))


class BestValue(NoIncumbent):
    """The best noisy value observed in this context, as in the papers' curves; the prior mean before any."""

    def __init__(self, num_trials: int, decisions: Decisions):
        self._best = np.full((num_trials, decisions.num_contexts), -np.inf)
        self._num_arms = decisions.num_arms

    def __call__(self, belief: Belief, context: Ints, mean: Floats) -> Floats:
        """Return the best value, (B,)."""
        best = self._best[belief.rows, context]
        return np.where(np.isfinite(best), best, belief.prior_mean_at(context).max(axis=1))

    def receive(self, trial: Ints, point: Ints, value: Floats) -> None:
        """Keep the best value of each context."""
        np.maximum.at(self._best, (trial, point // self._num_arms), value)

    def forget(self, trial: Ints) -> None:
        """No value is the best."""
        self._best[trial] = -np.inf


class NoisyPlays(MaxMean):
    """On a box without contexts, the best value of the plays without noise, in samples of them: noisy EI.

    See `box.incumbents.SampledBest`.
    """


INCUMBENTS: dict[str, type[NoIncumbent]] = {"max_mean": MaxMean, "best_value": BestValue}
NOISY = "noisy"


def improvable(name: str | None, setting: Setting) -> type[NoIncumbent]:
    """What expected improvement improves on.

    Args:
        name: in `INCUMBENTS`, or "noisy" on a box without contexts; None is "noisy" there, and "max_mean"
            elsewhere.
        setting: says whether it is such a box.
    """
    noisy = setting.continuous and not setting.has_contexts
    if name == NOISY and not noisy:
        raise ValueError('incumbent must not be "noisy" on a finite set or with contexts; take "max_mean"')
    if name == NOISY or (name is None and noisy):
        return NoisyPlays
    return incumbent_of("max_mean" if name is None else name, (*INCUMBENTS, NOISY))


def incumbent_of(name: str, allowed: Sequence[str] = tuple(INCUMBENTS)) -> type[NoIncumbent]:
    """The incumbent of a name, or a ValueError that says what is allowed."""
    known = isinstance(name, str) and name in INCUMBENTS
    require(known, "incumbent", f"one of {', '.join(allowed)}", name)
    return INCUMBENTS[name]
