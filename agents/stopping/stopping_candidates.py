"""What an agent's belief says of the plays that could follow: all that a stopping rule sees."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
from scipy.stats import norm

from bandit_envs.basics.types import Bools, Floats, Ints
from bandit_envs.kernels.definite import pivoted_root

from ..acquisition.improvement import log_expected_improvement

LIKELY = 0.5  # probability of keeping all costs from which a play may be recommended
MOST_JOINT = 4096  # candidates whose joint posterior is drawn
TOLERANCE = 1e-10  # of the largest variance, of the root from which draws are made


@dataclass(frozen=True)
class CandidateCosts:
    """The posterior of one cost at the n candidates, in its unit; it is kept where it is at most 0."""

    mean: Floats  # (n,)
    std: Floats  # (n,)
    covariance: Callable[[Ints, Ints], Floats]  # as of `StoppingCandidates`

    @cached_property
    def chance(self) -> Floats:
        """Probability that the cost is kept, (n,)."""
        return norm.cdf(-self.mean / np.maximum(self.std, 1e-300))

    @cached_property
    def root(self) -> Floats:
        """R with R'R the posterior covariance of all candidates, (r, n)."""
        return _root(self.std, self.covariance)


@dataclass(frozen=True)
class StoppingCandidates:
    """The posterior of one trial, given the delivered feedback, at n candidates in the reward's unit.

    All arms are candidates on a finite set. On a box they are the plays and a cloud of points. Reward and
    costs are independent.
    """

    point: Ints  # (n,) numbers of the candidates; -1 of points of a box that were not played
    arms: Floats  # (n, d) features
    mean: Floats  # (n,) of the mean reward
    std: Floats  # (n,)
    played: Bools  # (n,)
    noise: Floats  # (n,) variance of the reward of one play
    cost: Floats  # (n,) expected cost of a play; 1 where plays are free
    plays: int  # rounds so far, t
    pending: int  # plays whose feedback may still come
    gain: float  # information gain of the plays that mean and std rest on
    covariance: Callable[[Ints, Ints], Floats]  # of candidates by their indices, (a,) and (b,) -> (a, b)
    values: Floats  # (v,) delivered rewards in the order of plays
    latest: tuple[int, float] | None  # point and reward of the last play; None before its delivery
    rng: np.random.Generator  # for rules that draw from the posterior
    name_of: Callable[[int], str] | None = None  # of a candidate, in reasons
    assumed: int = 0  # plays that the posterior counts with made-up values
    costs: tuple[CandidateCosts, ...] = ()  # of each constraint
    success: Floats | float = 1.0  # probability that an experiment has a value, (n,); a tuner's may fail
    kept: Bools | bool = True  # (v,) whether the observed costs of each value were kept
    settled: bool = True  # False while first plays may still change the scales of reward and costs

    def name(self, candidate: int) -> str:
        """Return text that names a candidate in reasons."""
        if self.name_of is not None:
            return self.name_of(candidate)
        number = int(self.point[candidate])
        return f"arm {number}" if number >= 0 else f"the point {np.round(self.arms[candidate], 3).tolist()}"

    def scaled(self, unit: float, zero: float = 0.0) -> StoppingCandidates:
        """Return the same with rewards r as zero + unit r."""
        covariance, latest = self.covariance, self.latest
        return replace(
            self,
            mean=zero + unit * self.mean,
            values=zero + unit * self.values,
            latest=None if latest is None else (latest[0], zero + unit * latest[1]),
            std=unit * self.std,
            noise=unit**2 * self.noise,
            covariance=lambda point, other: unit**2 * covariance(point, other),
        )

    @cached_property
    def feasible(self) -> Floats:
        """Probability that a play succeeds and keeps all costs, (n,)."""
        chance = np.ones(len(self.mean)) * self.success
        for cost in self.costs:
            chance = chance * cost.chance
        return chance

    @property
    def likely(self) -> Bools:
        """Plays that are likely to keep all costs, which alone are recommended, (n,)."""
        return self.played & (self.feasible >= LIKELY)

    @cached_property
    def best(self) -> int | None:
        """Index of the play of the largest mean among those likely to keep all costs; None without one."""
        worth = np.where(self.likely, self.mean, -np.inf)
        best = int(worth.argmax())
        return best if np.isfinite(worth[best]) else None

    def improvement(self, std: Floats | None = None) -> Floats:
        """Return E[(Z - M)^+] P(all costs are kept), Z ~ N(mean, std^2), M the best mean, (n,)."""
        assert self.best is not None
        gap = self.mean - self.mean[self.best]
        return np.exp(log_expected_improvement(gap, self.std if std is None else std)) * self.feasible

    def difference(self, of: int) -> Floats:
        """Return the std of f(x) - f(x_of), (n,)."""
        shared = self.covariance(np.arange(len(self.mean)), np.array([of]))[:, 0]
        return np.sqrt(np.maximum(self.std**2 - 2.0 * shared + self.std[of] ** 2, 0.0))

    @cached_property
    def root(self) -> Floats:
        """R with R'R the posterior covariance of all candidates, (r, n)."""
        return _root(self.std, self.covariance)

    def draw(self, count: int) -> Floats:
        """Draw the mean reward jointly at all candidates, (count, n); minus infinity where a cost is broken.

        Where experiments may fail one uniform u decides a draw: those of P(success) >= u succeed, so that
        neighbours fail together.
        """
        drawn = self._drawn(self.mean, self.root, count)
        for cost in self.costs:
            drawn[self._drawn(cost.mean, cost.root, count) > 0.0] = -np.inf
        if np.ndim(self.success):
            drawn[self.rng.random((count, 1)) > self.success] = -np.inf
        return drawn

    def _drawn(self, mean: Floats, root: Floats, count: int) -> Floats:
        return mean + self.rng.standard_normal((count, len(root))) @ root


def _root(std: Floats, covariance: Callable[[Ints, Ints], Floats]) -> Floats:
    every = np.arange(len(std))
    return pivoted_root(covariance(every, every), TOLERANCE * max(std.max() ** 2, 1e-300))[0]


class StopVerdict(NamedTuple):
    """The answer of a stopping rule: whether to stop, what it recommends, and why, in words and numbers."""

    stop: bool
    best: int | None  # index of the recommended candidate, which was played
    reason: str


class StoppingRule(Protocol):
    """Function from the candidates after a round to a verdict; one that remembers has one object a trial."""

    def __call__(self, candidates: StoppingCandidates) -> StopVerdict:
        """Return whether to stop now."""
        ...
