"""Incumbents: the values that EI and PI measure improvement from, on which their ranking depends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from bandit_envs.basics.arguments import require
from bandit_envs.basics.types import Floats, Ints
from bandit_envs.problem.decisions import Decisions
from bandit_envs.problem.setting import Setting

from ..beliefs.base import Belief
from ..beliefs.safety import INFEASIBLE
from .improvement import change_of_lead


class Incumbent(Protocol):
    """Function that gives the value to improve on in each trial."""

    def __call__(self, belief: Belief, context: Ints, mean: Floats) -> Floats:
        """Return the incumbents, (B,), from the belief, the contexts (B,) and the candidates' means (B, A).

        The mean of arms that are unavailable in this round is minus infinity. An incumbent with an attribute
        `of_worth = True` gets the candidates' worth, see `Objective.worth`, in place of their means.
        """
        ...

    def receive(self, trial: Ints, point: Ints, value: Floats) -> None:
        """Record delivered values of plays, (n,) each."""
        ...

    def forget(self, trial: Ints) -> None:
        """Reset the incumbents of trials that restart, (n,)."""
        ...


class NoIncumbent:
    """Incumbent of rules without improvement: 0."""

    def __init__(self, num_trials: int, decisions: Decisions):
        self._zero = np.zeros(num_trials)

    def __call__(self, belief: Belief, context: Ints, mean: Floats) -> Floats:
        return self._zero

    def receive(self, trial: Ints, point: Ints, value: Floats) -> None:
        """Ignore delivered values."""

    def forget(self, trial: Ints) -> None:
        """Do nothing: no state is kept."""


class MaxMean(NoIncumbent):
    """The largest posterior mean over available played points of this context, else the prior mean."""

    def __call__(self, belief: Belief, context: Ints, mean: Floats) -> Floats:
        played = belief.played_at(belief.cells(context))
        largest = np.where(played, mean, -np.inf).max(axis=1)
        return np.where(largest > -np.inf, largest, belief.prior_mean_at(context).max(axis=1))


class BestValue(NoIncumbent):
    """The largest noisy value observed in this context, as in the papers' curves; at first the prior mean."""

    def __init__(self, num_trials: int, decisions: Decisions):
        self._best = np.full((num_trials, decisions.num_contexts), -np.inf)
        self._num_arms = decisions.num_arms

    def __call__(self, belief: Belief, context: Ints, mean: Floats) -> Floats:
        best = self._best[belief.rows, context]
        return np.where(np.isfinite(best), best, belief.prior_mean_at(context).max(axis=1))

    def receive(self, trial: Ints, point: Ints, value: Floats) -> None:
        np.maximum.at(self._best, (trial, point // self._num_arms), value)

    def forget(self, trial: Ints) -> None:
        self._best[trial] = -np.inf


class MaxWorth(NoIncumbent):
    """The largest worth of the points played in this context, at least `INFEASIBLE`."""

    of_worth = True

    def __call__(self, belief: Belief, context: Ints, mean: Floats) -> Floats:
        """Return the largest worth, (B,)."""
        played = belief.played_at(belief.cells(context))
        return np.where(played, mean, INFEASIBLE).max(axis=1)


class NoisyPlays(MaxMean):
    """Noisy EI on a box without contexts: the largest of the plays' sampled values, see `SampledBest`."""


INCUMBENTS: dict[str, type[NoIncumbent]] = {"max_mean": MaxMean, "best_value": BestValue}
NOISY = "noisy"


def improvable(name: str | None, setting: Setting) -> type[NoIncumbent]:
    """Return expected improvement's incumbent; None is "noisy" on a box in one context, else "max_mean"."""
    noisy = setting.continuous and not setting.has_contexts
    if name == NOISY and not noisy:
        raise ValueError('incumbent must not be "noisy" on a finite set or with contexts; take "max_mean"')
    if name == NOISY or (name is None and noisy):
        return NoisyPlays
    return incumbent_of("max_mean" if name is None else name, (*INCUMBENTS, NOISY))


def incumbent_of(name: str, allowed: Sequence[str] = tuple(INCUMBENTS)) -> type[NoIncumbent]:
    """Return the incumbent of a name, or raise a ValueError that lists the allowed names."""
    known = isinstance(name, str) and name in INCUMBENTS
    require(known, "incumbent", f"one of {', '.join(allowed)}", name)
    return INCUMBENTS[name]


def change_of(belief: Belief, context: Ints, means: Floats) -> Floats:
    """Return the std by which a play of x changes mu(x) - mu(j), j the arm of the largest of `means`.

    (B,) and (B, A) -> (B, A). Where all are minus infinity no arm leads, and mu(x) alone changes.
    """
    spread, arms, points = belief.spread, np.arange(means.shape[1]), belief.decisions.point_index
    variance = np.maximum(spread.variance_at(belief.cells(context)), 0.0)
    shared = np.zeros_like(variance)
    for i, j in enumerate(means.argmax(axis=1).tolist()):
        if means[i, j] > -np.inf:
            here = points(context[i], arms)
            shared[i] = spread.covariance(i, here, here[[j]])[:, 0]
            shared[i, j] = variance[i, j]
    at = points(context[:, None], arms)
    weights = belief.weights(at.ravel()) if belief.weighs else None
    noise = spread.noise[:, None] if weights is None else spread.noise[:, None] / weights.reshape(at.shape)
    return change_of_lead(variance, shared, noise)
