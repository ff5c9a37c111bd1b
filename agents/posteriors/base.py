"""The protocol of a Gaussian-process posterior, the counts and sums that it rests on, and their changes."""

from __future__ import annotations

import abc
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from bandit_envs.basics.types import Floats, Ints
from bandit_envs.kernels.gram import Gram

ROUNDING = 1e-9  # of a weight: rounding error left by removed plays


class SufficientStatistics(NamedTuple):
    """Plays and value sums of the distinct points played in one trial."""

    point: Ints  # (u,) ascending
    plays: Floats  # (u,)
    total: Floats  # (u,) sums of the values

    @classmethod
    def none(cls) -> SufficientStatistics:
        """Return the statistics of no plays."""
        return cls(np.empty(0, dtype=np.int64), np.empty(0), np.empty(0))

    @classmethod
    def of(cls, plays: Floats, total: Floats) -> SufficientStatistics:
        """Return the statistics of counts and sums of all points, (N,) each."""
        (point,) = plays.nonzero()
        return cls(point, plays[point], total[point])

    @classmethod
    def merge(cls, point: Ints, plays: Floats, total: Floats) -> SufficientStatistics:
        """Return the statistics of entries in which points may repeat, (k,) each."""
        distinct, place = np.unique(point, return_inverse=True)
        all_plays, all_total = np.zeros(len(distinct)), np.zeros(len(distinct))
        np.add.at(all_plays, place, plays)
        np.add.at(all_total, place, total)
        return cls(distinct, all_plays, all_total)


class Posterior(abc.ABC):
    """Zero-mean Gaussian-process posterior on N points, for B trials at once.

    With n the plays and b the sum of the values at each point, K the prior covariance and lambda the noise
    variance that the model assumes, one number or (B,),

        Sigma = (K^-1 + diag(n) / lambda)^-1,    mu = Sigma b / lambda.

    The state of a trial is its `SufficientStatistics`, (n, b); everything else is a cache over it. Rounding
    may make a variance slightly negative: clip it where its root is taken. *Cells* are the requested points
    of each trial, ascending, (B, A); None for all points.
    """

    gram: Gram
    noise: Floats  # (B,) lambda

    def __init__(self, gram: Gram, noise: float | Floats, num_trials: int):
        self.gram = gram
        self.noise = np.array(np.broadcast_to(noise, num_trials), dtype=np.float64)

    @property
    @abc.abstractmethod
    def gain(self) -> Floats:
        """Information gain, (B,): 1/2 logdet(I + K_t / lambda)."""

    def observe(self, trial: Ints, point: Ints, value: Floats) -> None:
        """Condition on one observation a trial, (n,) each; trials ascend and none repeats."""
        self.observe_sums(trial, point, np.ones(len(trial)), value)

    def observe_sums(self, trial: Ints, point: Ints, plays: Floats, total: Floats) -> None:
        """Condition on several observations of one point a trial, their number and their sum, (n,) each.

        They are equivalent to one observation of their mean with noise lambda / n. Trials ascend and none
        repeats; this implementation rebuilds the trial at the cost of `condition_on`.
        """
        for i, x, n, b in zip(trial.tolist(), point, plays, total, strict=True):
            seen = self.statistics(i)
            parts = np.append(seen.point, x), np.append(seen.plays, n), np.append(seen.total, b)
            self.condition_on(i, SufficientStatistics.merge(*parts))

    @abc.abstractmethod
    def correct(self, trial: Ints, point: Ints, change: Floats) -> None:
        """Change the values of earlier observations, (n,) each: mu += Sigma[:, x] dy / lambda.

        Trials may repeat. The mean is linear in the values, so this equals having observed the new values.
        """

    @abc.abstractmethod
    def mean_at(self, cells: Ints | None) -> Floats:
        """Posterior mean at some points of each trial, (B, A). Read only."""

    @abc.abstractmethod
    def variance_at(self, cells: Ints | None) -> Floats:
        """Posterior variance at some points of each trial, (B, A). Read only."""

    @abc.abstractmethod
    def count_at(self, cells: Ints | None) -> Floats:
        """Plays of some points of each trial, (B, A). Read only."""

    @abc.abstractmethod
    def weight_norm_at(self, cells: Ints | None) -> Floats:
        """|a_x| at some points of each trial, (B, A): the mean of the observations y is mu(x) = a_x'y.

        a_x = (K_t + lambda I)^-1 k_t(x) has one weight an observation, repeated plays counted singly. So
        noise of std R gives the mean at x a std of R |a_x|.
        """

    @abc.abstractmethod
    def centred_sample_at(self, cells: Ints | None, rngs: Sequence[np.random.Generator]) -> Floats:
        """Draw f - mean jointly at some points of each trial, each from its own generator, (B, A)."""

    def sample_at(
        self, cells: Ints | None, rngs: Sequence[np.random.Generator], factor: Floats | float
    ) -> Floats:
        """Draw mean + w (f - mean) jointly at some points of each trial, w a number or (B, 1); (B, A)."""
        sample = factor * self.centred_sample_at(cells, rngs)
        sample += self.mean_at(cells)
        return sample

    @property
    def searches(self) -> bool:
        """Return True if `argmax_ucb` finds the best points sooner than all scores do."""
        return False

    def argmax_ucb(self, width: float, tie: float) -> Ints | None:
        """Return the points whose mean + w std is within `tie` of the largest, ascending, (n,).

        It is for the only trial of a posterior that `searches`; else None, and for a negative width and NaN.
        """
        return None

    def mean_of(self, trial: Ints, point: Ints) -> Floats:
        """Posterior mean at single points, (n,) each -> (n,)."""
        return self.mean_at(None)[trial, point]

    def variance_of(self, trial: Ints, point: Ints) -> Floats:
        """Posterior variance at single points, (n,) each -> (n,)."""
        return self.variance_at(None)[trial, point]

    @abc.abstractmethod
    def covariance(self, trial: int, point: Ints, other: Ints) -> Floats:
        """Posterior covariance of two sets of points in one trial, (a,) and (b,) -> (a, b)."""

    @abc.abstractmethod
    def reset(self, trial: Ints) -> None:
        """Return the given trials, (n,), to the prior."""

    @abc.abstractmethod
    def statistics(self, trial: int) -> SufficientStatistics:
        """Plays and value sums of one trial, enough for a checkpoint."""

    @abc.abstractmethod
    def condition_on(self, trial: int, seen: SufficientStatistics) -> None:
        """Replace the plays and value sums of one trial."""

    def played(self, trial: int) -> Ints:
        """The distinct points played in one trial, (u,)."""
        return self.statistics(trial).point


def columns_at(table: Floats, cells: Ints | None) -> Floats:
    """Return a table (B, N) at some points of each trial, (B, A); None for all."""
    return table if cells is None else np.take_along_axis(table, cells, axis=1)


def observe(target: Posterior, trial: Ints, point: Ints, value: Floats, weight: Floats | None = None) -> None:
    """Condition on observations, (n,) each, that count as so many plays; trials ascend and may repeat."""
    if weight is None and len(trial) == 1:  # the common case: a single trial without delays
        target.observe(trial, point, value)
        return
    for wave in waves(trial):
        if weight is None:
            target.observe(trial[wave], point[wave], value[wave])
        else:
            target.observe_sums(trial[wave], point[wave], weight[wave], weight[wave] * value[wave])


def withdraw(
    target: Posterior, trial: Ints, point: Ints, value: Floats, weight: Floats | None = None
) -> None:
    """Remove observations, (n,) each; trials may repeat. The posterior is rebuilt from the others."""
    plays = np.ones(len(trial)) if weight is None else weight
    for i in np.unique(trial).tolist():
        seen, mine = target.statistics(i), trial == i
        left = SufficientStatistics.merge(
            np.concatenate([seen.point, point[mine]]),
            np.concatenate([seen.plays, -plays[mine]]),
            np.concatenate([seen.total, -plays[mine] * value[mine]]),
        )
        here = left.plays > ROUNDING * seen.plays
        target.condition_on(i, SufficientStatistics(left.point[here], left.plays[here], left.total[here]))


def reweigh(target: Posterior, trial: Ints, point: Ints, before: Floats | None, after: Floats) -> None:
    """Change the weights of plays of value 0, from `before` (1 for None) to `after`, (n,) each."""
    more = after - (1.0 if before is None else before)
    rise, fall = more > ROUNDING * after, more < -ROUNDING * after
    observe(target, trial[rise], point[rise], np.zeros(rise.sum()), more[rise])
    withdraw(target, trial[fall], point[fall], np.zeros(fall.sum()), -more[fall])


def waves(trial: Ints) -> Iterator[Ints | slice]:
    """Split ascending rows into groups in which no trial repeats."""
    if len(trial) < 2 or (trial[1:] > trial[:-1]).all():
        yield slice(None)
        return
    rank = np.arange(len(trial)) - np.searchsorted(trial, trial)
    for k in range(int(rank.max()) + 1):
        yield (rank == k).nonzero()[0]
