"""Results of earlier tasks on the same parameters, as a prior of the present one.

Earlier tasks are Gaussian processes, each in a unit of its own, whose hyperparameters are those of the
largest joint posterior density (Wang et al. 2024, HyperBO); their length-scales and noise are the centre of
the present task's prior. Its function is

    f(x) = sum_j w_j m_j(x) + g(x),     w_j ~ N(0, r_j / J),

m_j the posterior mean of task j, g a Gaussian process, and r_j the share of the variance of its values that
task j predicts, each from the others: J tasks count, those of which it is more than chance. So the
covariance gains e(x)'e(x'), e_j = m_j (r_j / J)^1/2, and the posterior knows the weights. That of a task
which says nothing of the present one fades with every value, and that of a task which says the contrary
becomes negative. RGPE (Feurer et al. 2018) counts ranks to the same end. Of the first plays every other one
is the best point of an earlier task.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg.lapack import dtrtrs  # type: ignore[attr-defined]

from bandit_envs.basics.arguments import require
from bandit_envs.basics.types import Floats
from bandit_envs.problem.setting import Setting

from .learner import QUIETER, likeliest
from .posterior import BoxPosterior, SurrogatePosterior
from .priors import Parameters, usual_prior
from .surrogate import PointValues, Surrogate
from .values import LARGEST, Converging

MOST = 200  # values of a task: the better half of them its best, the others evenly among the rest
FEWEST = 3  # without which a task tells no model
CHANCE = 0.25  # share of the variance that a model may seem to predict where there is nothing
ALIKE = 0.5  # spread of the logarithms of length-scales among tasks
NOISE_ALIKE = 2.0  # of that of the noise variance
Results = tuple[Floats, Floats]  # features, (n, D), and values, (n,)


def checked_results(like: Any, setting: Setting) -> list[Results]:
    """Return earlier results as arrays, or raise an error that names the task.

    Args:
        like: a list of (features, values), (n, D) and (n,), of which larger values are better.
    """
    require(isinstance(like, Sequence) and not isinstance(like, str), "like", "a list of earlier tasks", like)
    require(
        not (like and setting.has_contexts), "like", "left out in contexts, which earlier tasks lack", like
    )
    return [_checked(f"like[{j}]", each, setting.dim) for j, each in enumerate(like)]


def _checked(name: str, given: Any, dim: int) -> Results:
    pair = isinstance(given, Sequence) and len(given) == 2 and not isinstance(given, str)
    require(pair, name, "(features, values), (n, d) and (n,)", given)
    features, values = (np.asarray(each, dtype=np.float64) for each in given)
    shaped = features.ndim == 2 and features.shape[1] == dim and values.shape == features.shape[:1]
    words = f"features (n, {dim}) and values (n,)"
    require(shaped, name, words, (features.shape, values.shape))
    finite = np.isfinite(features).all() and np.isfinite(values).all()
    require(finite, name, "finite numbers; leave failed experiments out", given)
    require(len(values) >= FEWEST, name, f"at least {FEWEST} results", len(values))
    size = float(np.abs(values).max())
    return features, values / size if size > LARGEST else values  # each task has a unit of its own


def sides(setting: Setting) -> tuple[Floats, Floats]:
    """Return the smallest value of each feature of a setting's points, and the span, (D,) each."""
    decisions = setting.decisions
    low, high = (
        decisions.box if setting.continuous else (decisions.arms.min(axis=0), decisions.arms.max(axis=0))
    )
    return low, np.where(high > low, high - low, 1.0)


@dataclass(frozen=True, eq=False)
class EarlierTasks:
    """What earlier tasks tell, in columns of [0, 1]^D as the present one has them."""

    posteriors: list[BoxPosterior]
    shares: Floats  # (J,) of the variance of each, what it predicts of values left out
    theta: Floats  # the hyperparameters of all
    low: Floats  # columns are (features - low) / span
    span: Floats

    @classmethod
    def of(cls, results: Sequence[Results], low: Floats, span: Floats) -> EarlierTasks | None:
        """Learn from `checked_results`, on the present `sides`; None where no task predicts itself."""
        tasks = [_task((features - low) / span, values) for features, values in results]
        if not tasks:
            return None
        theta = likeliest(tasks, [tasks[0][0].prior.centre])
        found = [SurrogatePosterior(surrogate, theta, seen) for surrogate, seen in tasks]
        shares = np.array([_predicted(each) for each in found])
        telling = shares > CHANCE
        kept = [BoxPosterior(each) for each, tells in zip(found, telling, strict=True) if tells]
        return cls(kept, shares[telling], theta, low, span) if kept else None

    @property
    def number(self) -> int:
        """Return J."""
        return len(self.posteriors)

    def means(self, columns: Floats) -> Floats:
        """Return e, (n, D) -> (n, J)."""
        found = [each.mean(columns) for each in self.posteriors]
        return np.column_stack(found) * np.sqrt(self.shares / self.number)

    def slopes(self, columns: Floats, weight: Floats) -> Floats:
        """Return the slopes of the sum of weights, (J, n), times e at n points, (n, D)."""
        none = np.zeros(len(columns))
        share = weight * np.sqrt(self.shares / self.number)[:, None]
        parts = [
            each.slopes(columns, each.at(columns), one, none)
            for each, one in zip(self.posteriors, share, strict=True)
        ]
        return np.sum(parts, axis=0)

    def informed(self, surrogate: Surrogate, published: bool = False, exact: bool = False) -> Surrogate:
        """Return a surrogate that knows of the earlier tasks.

        Args:
            published: whether its prior is that of a published model, which is kept.
            exact: whether values have no noise.
        """
        found, prior = replace(surrogate, earlier=self.means(surrogate.parameters.columns)), surrogate.prior
        if published:
            return found
        size, centre, spread = len(self.low), prior.centre.copy(), prior.spread.copy()
        centre[:size], spread[:size] = self.theta[:size], ALIKE
        if not exact:
            centre[size + 1], spread[size + 1] = self.theta[size + 1], NOISE_ALIKE
        return replace(found, prior=replace(prior, centre=centre, spread=spread))

    def called_for(self, t: int) -> Floats | None:
        """Return the columns of the point to try in first round t, (D,); None in every other round."""
        return None if t % 2 else self.best(t // 2)

    def best(self, k: int) -> Floats:
        """Return the columns of the k-th point that should be tried first: the tasks take turns, (D,)."""
        posterior = self.posteriors[k % self.number].posterior
        tried = posterior.surrogate.parameters.columns[posterior.seen.point]
        order = np.argsort(-self.posteriors[k % self.number].mean(tried), kind="stable")
        return tried[order[min(k // self.number, len(order) - 1)]]


def _task(columns: Floats, values: Floats) -> tuple[Surrogate, PointValues]:
    """Return the model of one task, (n, D) and (n,), and its values in a unit of their own."""
    kept = _informative(values)
    points, place = np.unique(columns[kept], axis=0, return_inverse=True)
    place, known = place.ravel(), values[kept]
    plays = np.bincount(place).astype(np.float64)
    mean = np.bincount(place, weights=known) / plays
    squares = np.zeros(len(points))
    np.add.at(squares, place, np.square(known - mean[place]))
    seen = PointValues(np.arange(len(points)), plays, mean, squares, plays)
    parameters = Parameters.of_numbers(points)
    surrogate = Surrogate(parameters, usual_prior(parameters))
    own = Converging()
    own.learn(seen, [surrogate.standardised(surrogate.prior.centre, seen, each) for each in QUIETER])
    return surrogate, own.transformed(seen)


def _predicted(posterior: SurrogatePosterior) -> float:
    """Return which share of the variance of its values the model predicts, each from all others.

    A value differs from its prediction by alpha / (C^-1)_ii (Sundararajan and Keerthi 2001).
    """
    precision = np.square(dtrtrs(posterior.upper, np.eye(len(posterior.alpha)), trans=1)[0]).sum(axis=0)
    gaps, values = posterior.alpha / precision, posterior.seen.mean
    variance = float(values.var())
    return 1.0 - float(np.square(gaps).mean()) / variance if variance > 0.0 else 0.0


def _informative(values: Floats) -> Any:
    """Return which values are learnt from: all, or the best and some of every height."""
    if len(values) <= MOST:
        return np.arange(len(values))
    order = np.argsort(-values, kind="stable")
    rest = order[MOST // 2 :]
    some = np.linspace(0, len(rest) - 1, MOST - MOST // 2).round().astype(int)
    return np.sort(np.append(order[: MOST // 2], rest[some]))
