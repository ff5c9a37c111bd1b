"""Conditioning of posteriors on plays, which are added, removed, or given other weights."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bandit_envs.basics.types import Floats, Ints

from ..posteriors import Posterior
from ..posteriors.base import SufficientStatistics

ROUNDING = 1e-9  # of a weight: rounding error left by removed plays


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
