"""Beliefs that fill in pending feedback: the posterior mean, or other values (Verma et al. 2022)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bandit_envs.basics.types import Floats, Ints

from ..model.model import Model
from ..model.rounds import Clock, Rows, in_time
from ..posteriors import Posterior, SufficientStatistics
from .base import Belief, give_values, make_posterior, observe, reweigh, successor, withdraw
from .censored import Censored

# Assumed value of a pending play of a trial, given the posterior of values delivered in time, in its units.
FillIn = Callable[[Posterior, int, int], float]
NEIGHBOURS = 3


class Hallucinated(Belief):
    """Mean of the delivered values, std of all plays (GP-BUCB, Desautels et al. 2014).

    Conditioning pending plays on the current mean leaves the mean unchanged and shrinks the std, which two
    posteriors do exactly.
    """

    weighs = True

    def __init__(self, model: Model, num_trials: int):
        super().__init__(model, make_posterior(model, num_trials), make_posterior(model, num_trials))
        self._zeros = np.zeros(num_trials)

    def play(self, point: Ints) -> None:
        weight = self.weights(point)
        if weight is None:
            self.spread.observe(self.rows, point, self._zeros)
        else:
            self.spread.observe_sums(self.rows, point, weight, self._zeros)

    def receive(
        self, trial: Ints, point: Ints, delay: Ints | Floats, value: Floats, weight: Floats | None = None
    ) -> None:
        observe(self.centre, trial, point, self.residual(trial, point, value), self.weights(point, weight))
        if weight is not None:
            reweigh(self.spread, trial, point, self.weights(point), weight)

    def condition(self, now: int, rows: Rows, clock: Clock) -> None:
        zeros = np.zeros(len(rows.point))
        observe(self.spread, rows.trial, rows.point, zeros, self.weights(rows.point))
        super().condition(now, rows, clock)

    def drop(self, trial: Ints, point: Ints, ago: Ints) -> None:
        withdraw(self.spread, trial, point, np.zeros(len(point)), self.weights(point))


def posterior_mean(delivered: Posterior, trial: int, point: int) -> float:
    """Return the posterior mean of the point: exactly hallucination."""
    return float(delivered.mean_of(np.array([trial]), np.array([point]))[0])


def nearest_means(delivered: Posterior, trial: int, point: int) -> float:
    """Return the average posterior mean of the nearest points with delivered feedback; 0 before any."""
    arrived = delivered.played(trial)
    if len(arrived) == 0:
        return 0.0
    features = delivered.gram.points
    distance = ((features[arrived] - features[point]) ** 2).sum(axis=1)
    nearest = arrived[np.argsort(distance, kind="stable")[:NEIGHBOURS]]
    return float(delivered.mean_of(np.full(len(nearest), trial), nearest).mean())


class Imputed(Censored):
    """Belief that counts a pending value as its fill-in, which deliveries update until the window ends."""

    def __init__(self, model: Model, num_trials: int, *, fill: FillIn, **options: Any):
        super().__init__(model, num_trials, **options)
        self.fill = fill
        self.delivered = make_posterior(model, num_trials)
        self._pending: list[dict[int, list[float]]] = [{} for _ in range(num_trials)]  # point -> fill-ins

    def shifted(self, model: Model) -> Model:
        """Return the model unchanged: fill-ins are posterior means, not least values."""
        return model

    def play(self, point: Ints) -> None:
        values = np.array([self.fill(self.delivered, i, int(x)) for i, x in enumerate(point)])
        self.centre.observe(self.rows, point, values)
        self._points.append(point)
        for pending, x, value in zip(self._pending, point.tolist(), values.tolist(), strict=True):
            pending.setdefault(x, []).append(value)

    def receive(self, trial: Ints, point: Ints, delay: Ints | Floats, value: Floats) -> None:
        filled = self.take_back(trial, point)
        kept = in_time(delay, self.window)
        trial, point = trial[kept], point[kept]
        residual = self.residual(trial, point, value[kept])
        self.centre.correct(trial, point, residual - filled[kept])
        observe(self.delivered, trial, point, residual)
        for i in np.unique(trial):
            self._renew(int(i))

    def revalue(self, trial: Ints, came: Callable[[int, Ints], SufficientStatistics]) -> None:
        super().revalue(trial, came)
        for i in trial.tolist():
            give_values(self.delivered, i, self.residuals(i, came))
            self._pending[i] = {x: [0.0] * len(filled) for x, filled in self._pending[i].items()}
            self._renew(i)

    def _assume_pending(self, trial: Ints, point: Ints) -> None:
        """Count pending plays as their fill-ins, (n,) each."""
        super()._assume_pending(trial, point)
        for i, x in zip(trial.tolist(), point.tolist(), strict=True):
            self._pending[i].setdefault(x, []).append(0.0)
        for i in np.unique(trial).tolist():
            self._renew(i)

    def forget(self, trial: Ints) -> None:
        super().forget(trial)
        self.delivered.reset(trial)
        for i in trial.tolist():
            self._pending[i] = {}

    def take_back(self, trial: Ints, point: Ints) -> Floats:
        pairs = zip(trial.tolist(), point.tolist(), strict=True)
        return np.array([self._pending[i][x].pop() for i, x in pairs], dtype=np.float64)

    def assumed(self, trial: Ints, point: Ints) -> Floats:
        pairs = zip(trial.tolist(), point.tolist(), strict=True)
        return np.array([self.fill(self.delivered, i, x) for i, x in pairs], dtype=np.float64)

    def remodel(self, model: Model) -> None:
        super().remodel(model)
        self.delivered = successor(self.delivered, model)
        for i in self.rows.tolist():
            self._renew(i)

    def _renew(self, trial: int) -> None:
        for point, filled in self._pending[trial].items():
            if not filled:
                continue
            value = self.fill(self.delivered, trial, point)
            change = len(filled) * value - sum(filled)
            self.centre.correct(np.array([trial]), np.array([point]), np.array([change]))
            filled[:] = [value] * len(filled)


FILL_INS: dict[str, FillIn] = {"mean": posterior_mean, "nearest": nearest_means}
