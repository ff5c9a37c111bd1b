"""What expected improvement improves on: the best mean, worth or observed value of the plays, or none."""

from __future__ import annotations

import abc
from collections.abc import Sequence

import numpy as np

from bandit_envs.basics.arguments import require
from bandit_envs.basics.types import Floats, Ints
from bandit_envs.problem.decisions import Decisions
from bandit_envs.problem.setting import Setting

from ..beliefs.base import Belief
from ..beliefs.points import Pairs, Points, with_context
from ..beliefs.safety import INFEASIBLE
from ..beliefs.surface import NUM_WORLDS, Surface, Worlds, fantasies, normal_points
from ..model.rounds import Delivery
from ..named import is_name

SAMPLED_PLAYS = 64  # those of the largest means: the others are hardly ever the best of a sample


class Incumbent(abc.ABC):
    """Function that gives the value to improve on in each trial.

    On a finite set the points are all arms in the trial's context. On a box they are the arms played so far
    in any context, in the present one, and all count as played.
    """

    of_worth = False  # True if it takes the points' worth, see `Objective.worth`, in place of their means

    def __init__(self, num_trials: int, decisions: Decisions):  # noqa: B027 (most keep no state)
        pass

    @abc.abstractmethod
    def __call__(self, belief: Belief, points: Points, mean: Floats) -> Floats:
        """Return the incumbents, (B,), from the means at points, (B, n); those of missing arms are -inf."""

    def worlds(self, surface: Surface, plays: Pairs, best: Floats, rng: np.random.Generator) -> Worlds:
        """Return a belief on a box, in one or several worlds, and the incumbent in each; here in one."""
        return Worlds(surface, best)

    def receive(self, delivery: Delivery) -> None:  # noqa: B027 (usually a no-op)
        """Record delivered values of plays."""

    def forget(self, trial: Ints) -> None:  # noqa: B027 (likewise)
        """Reset the incumbents of trials that restart, (n,)."""


class NoIncumbent(Incumbent):
    """Incumbent of rules without improvement: 0."""

    def __init__(self, num_trials: int, decisions: Decisions):
        self._zero = np.zeros(num_trials)

    def __call__(self, belief: Belief, points: Points, mean: Floats) -> Floats:
        return self._zero


class MaxMean(Incumbent):
    """The largest posterior mean over available played points of this context, else the prior mean."""

    def __call__(self, belief: Belief, points: Points, mean: Floats) -> Floats:
        largest = np.where(points.played(belief), mean, -np.inf).max(axis=1, initial=-np.inf)
        return np.where(largest > -np.inf, largest, points.prior_mean(belief))


class MaxWorth(Incumbent):
    """The largest worth of the points played in this context, at least `INFEASIBLE`."""

    of_worth = True

    def __call__(self, belief: Belief, points: Points, mean: Floats) -> Floats:
        return np.where(points.played(belief), mean, INFEASIBLE).max(axis=1, initial=INFEASIBLE)


class BestValue(Incumbent):
    """The largest noisy value observed in this context, as in the papers' curves; at first the prior mean."""

    def __init__(self, num_trials: int, decisions: Decisions):
        size = 1 if decisions.continuous else len(decisions.points)
        self._best = np.full((num_trials, size), -np.inf)  # of each numbered point

    def __call__(self, belief: Belief, points: Points, mean: Floats) -> Floats:
        best = points.largest(belief, self._best)
        return np.where(np.isfinite(best), best, points.prior_mean(belief))

    def receive(self, delivery: Delivery) -> None:
        trial, point, value = delivery.trial, delivery.point, delivery.reward
        while point.max(initial=0) >= self._best.shape[1]:  # points of a box are numbered as they are played
            self._best = np.concatenate([self._best, np.full_like(self._best, -np.inf)], axis=1)
        np.maximum.at(self._best, (trial, point), value)

    def forget(self, trial: Ints) -> None:
        self._best[trial] = -np.inf


class NoisyPlays(MaxMean):
    """Noisy EI on a box: the best noise-free value of the plays, in each of several samples of them.

    Under noise the largest mean would be the value of one play, whose uncertainty would count as improvement:
    EI then plays the same points again. Here a play is no improvement on itself.
    """

    def worlds(self, surface: Surface, plays: Pairs, best: Floats, rng: np.random.Generator) -> Worlds:
        """Return worlds with samples of the best plays' values; before any play, one world."""
        if not len(plays.arms):
            return super().worlds(surface, plays, best, rng)
        arms = np.unique(plays.arms[:SAMPLED_PLAYS], axis=0)
        white = normal_points(len(arms), NUM_WORLDS, rng)
        return fantasies(surface, with_context(plays.context, arms), white)


INCUMBENTS: dict[str, type[Incumbent]] = {"max_mean": MaxMean, "best_value": BestValue}
NOISY = "noisy"


def improvable(name: str | None, setting: Setting) -> type[Incumbent]:
    """Return expected improvement's incumbent; None is "noisy" on a box in one context, else "max_mean"."""
    noisy = setting.continuous and not setting.has_contexts
    if name == NOISY and not noisy:
        raise ValueError('incumbent must not be "noisy" on a finite set or with contexts; take "max_mean"')
    if name == NOISY or (name is None and noisy):
        return NoisyPlays
    return incumbent_of("max_mean" if name is None else name, (*INCUMBENTS, NOISY))


def incumbent_of(name: str, allowed: Sequence[str] = tuple(INCUMBENTS)) -> type[Incumbent]:
    """Return the incumbent of a name, or raise a ValueError that lists the allowed names."""
    known = is_name(name, *INCUMBENTS)
    require(known, "incumbent", f"one of {', '.join(allowed)}", name)
    return INCUMBENTS[name]
