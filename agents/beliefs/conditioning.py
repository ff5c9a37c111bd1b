"""How beliefs make posteriors, and what they tell them of plays: values, other values, and none at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from bandit_envs.basics.types import Floats, Ints

from ..model.model import Model
from ..posteriors import Posterior, posterior
from ..posteriors.sufficient_statistics import SufficientStatistics


def make_posterior(model: Model, num_trials: int, noise_variance: Floats | None = None) -> Posterior:
    """The prior of a model, ready to learn; `noise_variance` in place of the model's."""
    given = model.noise_variance if noise_variance is None else noise_variance
    noise = np.asarray(given, dtype=np.float64)
    setting = model.setting
    return posterior(
        model.gram, noise, num_trials, setting.horizon, model.form, setting.decisions.num_contexts
    )


def successor(old: Posterior, model: Model) -> Posterior:
    """The posterior of another model that has seen the same."""
    new = make_posterior(model, len(old.noise))
    for i in range(len(old.noise)):
        new.condition_on(i, old.statistics(i))
    return new


def give_values(target: Posterior, trial: int, total: Callable[[Ints], Floats]) -> None:
    """Give the plays of a trial other values: their sums, (u,), at points, (u,)."""
    seen = target.statistics(trial)
    target.condition_on(trial, seen._replace(total=total(seen.point)))


def observe(target: Posterior, trial: Ints, point: Ints, value: Floats) -> None:
    """Condition on observations, (n,) each; trials ascend and may repeat."""
    if len(trial) == 1:  # one trial without delays: every round comes this way
        target.observe(trial, point, value)
        return
    for wave in waves(trial):
        target.observe(trial[wave], point[wave], value[wave])


def withdraw(target: Posterior, trial: Ints, point: Ints, value: Floats) -> None:
    """Undo observations, (n,) each; trials may repeat. The posterior is built again from what is left."""
    for i in np.unique(trial).tolist():
        seen, mine = target.statistics(i), trial == i
        left = SufficientStatistics.merge(
            np.concatenate([seen.point, point[mine]]),
            np.concatenate([seen.plays, -np.ones(mine.sum())]),
            np.concatenate([seen.total, -value[mine]]),
        )
        here = left.plays > 0
        target.condition_on(i, SufficientStatistics(left.point[here], left.plays[here], left.total[here]))


def waves(trial: Ints) -> Iterator[Ints | slice]:
    """Split ascending rows into groups in which no trial repeats."""
    if len(trial) < 2 or (trial[1:] > trial[:-1]).all():
        yield slice(None)
        return
    rank = np.arange(len(trial)) - np.searchsorted(trial, trial)
    for k in range(int(rank.max()) + 1):
        yield (rank == k).nonzero()[0]
