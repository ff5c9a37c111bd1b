"""Operations of beliefs on posteriors: make them, condition on values, change values and remove them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from bandit_envs.basics.types import Floats, Ints

from ..model.model import Model
from ..posteriors import Posterior, posterior
from ..posteriors.sufficient_statistics import SufficientStatistics

ROUNDING = 1e-9  # of a weight: rounding error left by removed plays


def make_posterior(model: Model, num_trials: int, noise_variance: Floats | None = None) -> Posterior:
    """Return the prior of a model as a posterior without plays; `noise_variance` overrides the model's."""
    given = model.noise_variance if noise_variance is None else noise_variance
    noise = np.asarray(given, dtype=np.float64)
    setting = model.setting
    return posterior(
        model.gram, noise, num_trials, setting.horizon, model.form, setting.decisions.num_contexts
    )


def successor(old: Posterior, model: Model) -> Posterior:
    """Return the posterior of another model given the same observations."""
    new = make_posterior(model, len(old.noise))
    for i in range(len(old.noise)):
        new.condition_on(i, old.statistics(i))
    return new


def give_values(target: Posterior, trial: int, total: Callable[[Ints], Floats]) -> None:
    """Replace the values of a trial's plays: their sums, (u,), at points, (u,)."""
    seen = target.statistics(trial)
    target.condition_on(trial, seen._replace(total=total(seen.point)))


def recentre(target: Posterior, rise: Floats) -> None:
    """Subtract from all values the increase of the prior mean, (B, N)."""
    for i in range(len(rise)):
        seen = target.statistics(i)
        target.condition_on(i, seen._replace(total=seen.total - seen.plays * rise[i, seen.point]))


def observe(target: Posterior, trial: Ints, point: Ints, value: Floats, weight: Floats | None = None) -> None:
    """Condition on observations, (n,) each, that count as so many plays; trials ascend and may repeat."""
    if weight is not None:
        for wave in waves(trial):
            target.observe_sums(trial[wave], point[wave], weight[wave], weight[wave] * value[wave])
        return
    if len(trial) == 1:  # the common case: a single trial without delays
        target.observe(trial, point, value)
        return
    for wave in waves(trial):
        target.observe(trial[wave], point[wave], value[wave])


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
