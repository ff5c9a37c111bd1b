"""One set of plays under several regularisations, for bands that choose the best of them at every point."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from bandit_envs.basics.arguments import ArgumentError, shown
from bandit_envs.basics.types import Floats, Ints

from ..model.model import Model
from ..model.noise import SMALLEST_NOISE
from ..posteriors import Posterior
from ..posteriors.sufficient_statistics import SufficientStatistics
from .conditioning import make_posterior, observe, waves
from .delivered import Delivered
from .fits import Fit

RATIOS = (0.1, 0.3, 1.0, 3.0, 10.0)  # of Flynn & Reeb (2024)


class Ridges(Delivered):
    """Belief that learns a value when it is delivered, in one posterior for each a = ratio * lambda.

    Mean, std, samples and gain are those of lambda; each other regularisation costs a posterior. The
    statistic that compares fits is updated by innovations,

        q_a = sum_s a (y_s - mu_{a,s-1}(x_s))^2 / (a + sigma_{a,s-1}^2(x_s)),

    and where values change, computed from sums: q_a - q_lambda = sum_x b_x (mu_lambda(x) - mu_a(x)).

    Args:
        model: kernel, noise and prior mean; lambda is its noise variance.
        num_trials: B.
        ratios: a / lambda; 1 is always included. A regularisation is at least 1e-10 of the prior variance.
    """

    def __init__(self, model: Model, num_trials: int, ratios: Sequence[float] = RATIOS):
        super().__init__(model, num_trials)
        self.ratios = [ratio for ratio in ratios if ratio != 1.0]
        self._misfit = np.zeros((len(self.ratios), num_trials))
        self.others = self._make(model)

    @property
    def fits(self) -> list[Fit]:
        """Fit of the plays under each regularisation."""
        misfits = [np.zeros(len(self.rows)), *self._misfit]
        return [Fit(each.noise, q) for each, q in zip((self.centre, *self.others), misfits, strict=True)]

    def receive(
        self, trial: Ints, point: Ints, delay: Ints | Floats, value: Floats, weight: Floats | None = None
    ) -> None:
        """Condition on the values, at most one a trial at a time, as plays of these weights, (n,)."""
        residual, known = self.residual(trial, point, value), self.weights(point, weight)
        plays = np.ones(len(trial)) if known is None else known
        for wave in waves(trial):
            self._observe(trial[wave], point[wave], residual[wave], plays[wave])

    def forget(self, trial: Ints) -> None:
        """Return the given trials, (n,), to the prior."""
        super().forget(trial)
        for other in self.others:
            other.reset(trial)
        self._misfit[:, trial] = 0.0

    def remodel(self, model: Model) -> None:
        """Change to another kernel, noise and prior mean; the observations stay."""
        super().remodel(model)
        self.others = self._make(model)
        self._follow(self.rows)

    def revalue(self, trial: Ints, came: Callable[[int, Ints], SufficientStatistics]) -> None:
        """Replace the delivered values of some trials, (n,)."""
        super().revalue(trial, came)
        self._follow(trial)

    def _make(self, model: Model) -> list[Posterior]:
        least = SMALLEST_NOISE * model.deviation**2
        each = (np.maximum(np.multiply(ratio, model.noise_variance), least) for ratio in self.ratios)
        return [make_posterior(model, len(self.rows), noise) for noise in each]

    def _observe(self, trial: Ints, point: Ints, residual: Floats, plays: Floats) -> None:
        own = _innovation(self.centre, trial, point, residual, plays)
        for misfit, other in zip(self._misfit, self.others, strict=True):
            misfit[trial] += _innovation(other, trial, point, residual, plays) - own
        for each in (self.centre, *self.others):
            observe(each, trial, point, residual, None if (plays == 1.0).all() else plays)

    def _follow(self, trial: Ints) -> None:
        """Condition the other posteriors on the observations of the first one."""
        for i in trial.tolist():
            seen = self.centre.statistics(i)
            alike = np.full(len(seen.point), i)
            for misfit, other in zip(self._misfit, self.others, strict=True):
                other.condition_on(i, seen)
                gap = self.centre.mean_of(alike, seen.point) - other.mean_of(alike, seen.point)
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
