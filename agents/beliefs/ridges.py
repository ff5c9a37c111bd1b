"""One set of plays under several regularisations, and the influence of each value on the posterior mean.

Over the u distinct points p of a trial, with n_p plays of mean y_p,

    mu(x) = m(x) + sum_p c_p(x) (y_p - m(p)),    c(x) = (K + diag(lambda / n))^-1 k(x) = n S[:, x] / lambda,

so a change dy of one value of p moves the mean by c_p(x) dy / n_p.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from bandit_envs.basics.arguments import ArgumentError, shown
from bandit_envs.basics.types import Bools, Floats, Ints

from ..model.defaults import SMALLEST_NOISE
from ..model.model import Model
from ..model.rounds import Delivery
from ..posteriors import Posterior
from ..posteriors.base import SufficientStatistics, observe, waves
from .base import Belief, Fit, make_posterior
from .delivered import Delivered

RATIOS = (0.1, 0.3, 1.0, 3.0, 10.0)  # of Flynn & Reeb (2024)


class ObservationWeights(NamedTuple):
    """Weights of one trial's plays in the mean at A points; all plays have noise lambda."""

    plays: Floats  # (u,) n
    share: Floats  # (u, A) c
    own: Floats  # (A,) the weight of a point's own plays, 0 where it was not played


def observation_weights_at(
    belief: Belief, trial: int, seen: SufficientStatistics, across: Floats, same: Bools
) -> ObservationWeights:
    """Return one trial's weights at A points; O(u^2 A).

    `seen` are the plays at u points, `across` their prior covariances with the A points, and `same` which of
    these are the points, (u, A) each.
    """
    among = belief.mean_posterior.gram.between(seen.point, seen.point)
    among[np.diag_indices(len(among))] += belief.mean_posterior.noise[trial] / seen.plays
    share = np.asarray(np.linalg.solve(among, across) if len(among) else across, dtype=np.float64)
    return ObservationWeights(seen.plays, share, np.where(same, share, 0.0).sum(axis=0))


class Ridges(Delivered):
    """Belief that learns a value when it is delivered, in one posterior for each a = ratio * lambda.

    Mean, std, samples and gain are those of lambda, which is always one; each other costs a posterior, of at
    least 1e-10 of the prior variance. The statistic that compares fits is updated by innovations,

        q_a = sum_s a (y_s - mu_{a,s-1}(x_s))^2 / (a + sigma_{a,s-1}^2(x_s)),

    and where values change, computed from sums: q_a - q_lambda = sum_x b_x (mu_lambda(x) - mu_a(x)).
    """

    def __init__(self, model: Model, num_trials: int, ratios: Sequence[float] = RATIOS):
        super().__init__(model, num_trials)
        self.ratios = [ratio for ratio in ratios if ratio != 1.0]
        self._misfit = np.zeros((len(self.ratios), num_trials))
        self.others = self._make(model)

    @property
    def fits(self) -> list[Fit]:
        misfits = [np.zeros(len(self.rows)), *self._misfit]
        return [
            Fit(each.noise, q) for each, q in zip((self.mean_posterior, *self.others), misfits, strict=True)
        ]

    def receive(self, delivery: Delivery) -> None:
        trial, point, value, weight = delivery.trial, delivery.point, delivery.reward, delivery.weight
        residual, known = self.residual(trial, point, value), self.weights(point, weight)
        plays = np.ones(len(trial)) if known is None else known
        for wave in waves(trial):
            given = trial[wave], point[wave], residual[wave]
            own = _innovation(self.mean_posterior, *given, plays[wave])
            for misfit, other in zip(self._misfit, self.others, strict=True):
                misfit[trial[wave]] += _innovation(other, *given, plays[wave]) - own
            for each in (self.mean_posterior, *self.others):
                observe(each, *given, None if (plays[wave] == 1.0).all() else plays[wave])

    def forget(self, trial: Ints) -> None:
        super().forget(trial)
        for other in self.others:
            other.reset(trial)
        self._misfit[:, trial] = 0.0

    def remodel(self, model: Model) -> None:
        super().remodel(model)
        self.others = self._make(model)
        self._follow(self.rows)

    def revalue(self, trial: Ints, delivered: Callable[[int, Ints], SufficientStatistics]) -> None:
        super().revalue(trial, delivered)
        self._follow(trial)

    def _make(self, model: Model) -> list[Posterior]:
        least = SMALLEST_NOISE * model.prior_std**2
        each = (np.maximum(np.multiply(ratio, model.noise_variance), least) for ratio in self.ratios)
        return [make_posterior(model, len(self.rows), noise) for noise in each]

    def _follow(self, trial: Ints) -> None:
        """Condition the other posteriors on the observations of the first one."""
        for i in trial.tolist():
            seen = self.mean_posterior.statistics(i)
            alike = np.full(len(seen.point), i)
            for misfit, other in zip(self._misfit, self.others, strict=True):
                other.condition_on(i, seen)
                gap = self.mean_posterior.mean_of(alike, seen.point) - other.mean_of(alike, seen.point)
                misfit[i] = seen.total @ gap


def _innovation(posterior: Posterior, trial: Ints, point: Ints, residual: Floats, plays: Floats) -> Floats:
    """Return a (y - mu)^2 / (a / w + sigma^2) of the next observation of weight w a trial, (n,)."""
    noise = posterior.noise[trial]
    gap = residual - posterior.mean_of(trial, point)
    return noise * gap**2 / (noise / plays + np.maximum(posterior.variance_of(trial, point), 0.0))


def require_ratios(ratios: Sequence[float]) -> None:
    """Raise unless the ratios are positive multiples of lambda."""
    try:
        given = np.asarray(ratios, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        given = np.full(1, np.nan)
    if given.ndim != 1 or not np.all((given > 0.0) & np.isfinite(given)) or isinstance(ratios, str):
        words = "must be positive numbers, multiples of the model's lambda such as (0.1, 1, 10)"
        raise ArgumentError("ratios", f"{words}, got {shown(ratios)}")
